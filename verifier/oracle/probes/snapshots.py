"""Everything that an operation has to leave alone: identities, versions and bytes.

Values are compared by their bytes: equal NaNs are equal, and -0.0 is not 0.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

Snapshot = tuple[Any, ...]

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_SHOWN_ELSEWHERE = ("state", "param_groups")


def snapshot(optimizer: Any) -> Snapshot:
    """What an optimizer and its parameters are; two of them are equal where nothing was touched in between.

    Besides state and groups it holds every other attribute, for what is cached there must not change either.
    """
    others = [(name, value) for name, value in vars(optimizer).items() if name not in _SHOWN_ELSEWHERE]
    return (
        _frozen(optimizer.param_groups),
        id(optimizer.state),
        tuple((_key(key), _frozen(entry)) for key, entry in optimizer.state.items()),
        tuple((name, _frozen(value)) for name, value in others),
    )


def values(optimizer: Any) -> Snapshot:
    """The values alone: parameters, state and options by position, without identities and versions."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    state = optimizer.state
    entries = [state[p] if p in state else None for p in parameters]  # noqa: SIM401 - it may have no get
    options = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    return tuple(bits(p) for p in parameters), _value(entries), _value(options)


def bits(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Dtype, shape and bytes of a tensor."""
    about = (str(tensor.dtype), str(tensor.layout), str(tensor.device), tuple(tensor.shape))
    if tensor.is_meta:
        return about
    if tensor.layout != torch.strided:
        return (*about, _raw(tensor.detach().to_dense()))
    return (*about, _raw(tensor.detach()))


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are of one dtype and shape and hold the same bytes."""
    return bits(one) == bits(other)


def _raw(tensor: torch.Tensor) -> bytes:
    flat = tensor.cpu().contiguous().view(-1)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def _key(key: Any) -> Any:
    return key if isinstance(key, int | str) else id(key)


def _frozen(value: Any, depth: int = 6) -> Any:
    """A value with the identity of every container and tensor in it."""
    if isinstance(value, _PLAIN):
        return type(value).__name__, repr(value)
    if isinstance(value, torch.Tensor):
        return id(value), value._version, tuple(value.stride()) if _is_strided(value) else (), bits(value)
    if depth and isinstance(value, Mapping):
        return id(value), tuple((_key(key), _frozen(item, depth - 1)) for key, item in value.items())
    if depth and isinstance(value, list | tuple):
        return id(value), tuple(_frozen(item, depth - 1) for item in value)
    return type(value).__name__, id(value)


def _value(value: Any) -> Any:
    """A value without identities."""
    if isinstance(value, torch.Tensor):
        return "tensor", bits(value)
    if isinstance(value, Mapping):
        return "dict", tuple((str(key), _value(item)) for key, item in sorted(value.items(), key=_name))
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(_value(item) for item in value)
    return type(value).__name__, repr(value)


def _name(item: tuple[Any, Any]) -> str:
    return str(item[0])


def _is_strided(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided
