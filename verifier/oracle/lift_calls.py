"""Real functions as calls that can be watched: partition functions, and loaders that fill a parameter."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from verifier.oracle.lift_errors import (
    BadTargetError,
    CallFailedError,
    LiftError,
    NotAGatherError,
    NotATensorError,
)
from verifier.oracle.lift_probe import Call, Floats, Mask, Shard
from verifier.oracle.lift_sent import Elements

Partition = Callable[[torch.Tensor, int, int], torch.Tensor]
"""``(tensor, rank, world) -> shard``."""
Load = Callable[[torch.Tensor, torch.Tensor, Hashable], object]
"""``(parameter, loaded, shard_id) -> None``: copies a part of ``loaded`` into ``parameter``."""


@dataclass(frozen=True, slots=True)
class Loading:
    """How one rank loads one parameter.

    Attributes:
        parameter: what is filled, in memory and of the dtype that is served; it is overwritten.
        load: the loader.
        parts: the tensors of the checkpoint by shard id, in the order in which they make up the parameter.
        dim: the dimension along which they are joined to the full parameter.
    """

    parameter: torch.Tensor
    load: Load
    parts: Mapping[Hashable, tuple[int, ...]]
    dim: int = 0

    def logical_shape(self, rank: int) -> tuple[int, ...]:
        """The shape of the parts joined.

        Raises:
            BadTargetError: there are none, or they do not fit together.
        """
        shapes = [tuple(shape) for shape in self.parts.values()]
        if not shapes:
            raise BadTargetError(rank, "there are no parts to load")
        axes = len(shapes[0])
        if axes == 0 and len(shapes) == 1:
            return ()
        if not -axes <= self.dim < axes:
            raise BadTargetError(rank, f"parts of {axes} dimensions have no dimension {self.dim}")
        dim = self.dim % axes
        joined = list(shapes[0])
        joined[dim] = sum(shape[dim] if len(shape) == axes else 0 for shape in shapes)
        for shape in shapes:
            if [*shape[:dim], joined[dim], *shape[dim + 1 :]] != joined or len(shape) != axes:
                raise BadTargetError(rank, f"parts of {shapes[0]} and {shape} do not join along {dim}")
        return tuple(joined)


def partition_call(
    function: Partition,
    shape: tuple[int, ...],
    rank: int,
    world: int,
    *,
    dtype: torch.dtype,
    device: torch.device,
) -> Call:
    """One rank of a partition function, on tensors of ``dtype``."""

    def call(elements: Elements) -> Shard:
        tensor = torch.from_numpy(elements).to(device=device, dtype=dtype, copy=True).view(shape)
        with torch.no_grad(), _poisoned_memory(), _failures(rank, f"for a tensor of {dtype}"):
            made = function(tensor, rank, world)
        shard = _require_tensor(rank, made)
        poison = shard.isnan() if shard.dtype.is_floating_point else _largest(shard)
        return Shard(tuple(shard.shape), shard.dtype, _doubles(shard), _mask(poison))

    return call


def loading_call(loading: Callable[[int, int], Loading], rank: int, world: int) -> Call:
    """One rank of a loader. Every call loads twice into parameters of its own, over different memory."""

    def call(elements: Elements) -> Shard:
        left = [_loaded(loading, rank, world, elements, poison) for poison in _POISONS]
        values = [_doubles(one) for one in left]
        if left[0].shape != left[1].shape:
            raise NotATensorError(rank, "the parameter has another shape from load to load")
        unwritten = (values[0] == _POISONS[0]) & (values[1] == _POISONS[1])
        same = (values[0] == values[1]) | (np.isnan(values[0]) & np.isnan(values[1]))
        wrong = np.flatnonzero(~(same | unwritten))
        if len(wrong):
            cell = int(wrong[0])
            raise NotAGatherError(rank, cell, "depends on what the parameter held before")
        return Shard(tuple(left[0].shape), left[0].dtype, values[0], unwritten)

    return call


def made_loading(loading: Callable[[int, int], Loading], rank: int, world: int) -> Loading:
    """What one rank loads, of parts that are shapes.

    Raises:
        CallFailedError: the function raises.
        BadTargetError: it returns something else.
    """
    with _failures(rank, "while the loading was made"):
        one = loading(rank, world)
    if not isinstance(one, Loading):
        raise BadTargetError(rank, f"a {type(one).__name__} was returned where a Loading is needed")
    if not isinstance(one.parts, Mapping) or not all(map(_is_shape, one.parts.values())):
        raise BadTargetError(rank, "its parts are no shapes by shard id")
    if type(one.dim) is not int:
        raise BadTargetError(rank, f"its dim is a {type(one.dim).__name__}, no int")
    return one


def _is_shape(shape: object) -> bool:
    return isinstance(shape, tuple | list) and all(type(extent) is int and extent >= 0 for extent in shape)


_POISONS = (3, 5)
"""Small enough for every dtype; a cell that is 3 over the one and 5 over the other was never written."""


def _loaded(
    loading: Callable[[int, int], Loading], rank: int, world: int, elements: Elements, poison: int
) -> torch.Tensor:
    one = made_loading(loading, rank, world)
    held = _require_tensor(rank, one.parameter)
    full = torch.from_numpy(elements).to(device=held.device, dtype=held.dtype, copy=True)
    start, dim = 0, one.dim
    full = full.view(one.logical_shape(rank))
    with torch.no_grad():
        one.parameter.data.fill_(poison)
        for shard_id, shape in one.parts.items():
            extent = shape[dim] if shape else 1
            part = full.narrow(dim, start, extent).clone() if shape else full.clone()
            start += extent
            with _failures(rank, f"for shard id {shard_id!r}"):
                one.load(one.parameter, part, shard_id)
    return _require_tensor(rank, one.parameter.data)


def _require_tensor(rank: int, made: object) -> torch.Tensor:
    if not isinstance(made, torch.Tensor):
        raise NotATensorError(rank, f"a {type(made).__name__} was returned where a shard is needed")
    tensor = made.detach()
    if type(tensor) is not torch.Tensor:
        raise NotATensorError(rank, f"a {type(tensor).__name__} was returned; return its local tensor")
    if tensor.is_meta or tensor.layout is not torch.strided or tensor.dtype.is_complex or tensor.is_quantized:
        kind = "meta" if tensor.is_meta else f"{tensor.layout} {tensor.dtype}"
        raise NotATensorError(rank, f"a {kind} tensor was returned; its cells cannot be read")
    return tensor


def _doubles(tensor: torch.Tensor) -> Floats:
    flat: Floats = tensor.detach().to(device="cpu", dtype=torch.float64).reshape(-1).numpy().copy()
    return flat


def _mask(tensor: torch.Tensor) -> Mask:
    flat: Mask = tensor.to("cpu").reshape(-1).numpy().copy()
    return flat


def _largest(tensor: torch.Tensor) -> torch.Tensor:
    """Where integers are what torch fills memory with that nobody wrote; a bool has no value to spare."""
    if tensor.dtype == torch.bool:
        return torch.zeros_like(tensor)
    return tensor == torch.iinfo(tensor.dtype).max


@contextmanager
def _failures(rank: int, when: str) -> Iterator[None]:
    """Turns whatever foreign code raises into CallFailedError."""
    try:
        yield
    except (LiftError, torch.cuda.OutOfMemoryError):
        raise
    except Exception as error:
        said = str(error).strip().split("\n", maxsplit=1)[0]
        raise CallFailedError(rank, f"{type(error).__name__} {when}: {said}") from error


@contextmanager
def _poisoned_memory() -> Iterator[None]:
    """Fresh memory holds NaN or the largest integer, so that cells nobody writes show.

    Without it they hold what was freed last, which may be the right shard of the call before.
    """
    memory: Any = torch.utils.deterministic
    was = torch.are_deterministic_algorithms_enabled()
    warn = torch.is_deterministic_algorithms_warn_only_enabled()
    fill = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    memory.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was, warn_only=warn)
        memory.fill_uninitialized_memory = fill
