"""What became of a map that other software was given: shards cut by a walk, results compared bit for bit.

Data is cut without the software on trial, and memory that it allocates and never writes shows as NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils.deterministic

from fuzz.consumers.classes import Class
from fuzz.walk import addresses
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap

Tensors = torch.Tensor | Mapping[int, torch.Tensor]
"""A parameter, or the shards of some ranks."""

MEMORY: Any = torch.utils.deterministic
"""Its attributes are properties that the types of torch do not know."""
DETERMINISTIC_BUT_WARN = 1
"""The mode of torch that fills new memory and refuses nothing for it."""
MOST_POWERS = 512
"""So many powers of two leave a double room for scales."""
MOST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Attempt:
    """One operation on one map.

    Attributes:
        uninitialised: the result has memory that nobody wrote.
        words: how the result differs, or what was raised; empty where it is exact.
    """

    klass: Class
    uninitialised: bool
    words: str


def parameter(shard_map: ShardMap) -> torch.Tensor:
    """A float64 tensor of the logical shape, whose elements are distinct positive integers.

    They are 1, 2, 3, ...; where scales take part 1, 2, 4, ..., which any scale gives back exactly, up to
    ``MOST_POWERS`` elements.
    """
    numel = shard_map.numel
    scaled = any(piece.scale != ONE for _, _, piece in shard_map.pieces())
    values = [2.0**k for k in range(numel)] if scaled and numel <= MOST_POWERS else range(1, numel + 1)
    return torch.tensor(values, dtype=torch.float64).reshape(shard_map.logical_shape)


def cut(shard_map: ShardMap, full: torch.Tensor) -> dict[int, torch.Tensor]:
    """Each rank's shard of a parameter of floats, element by element; NaN where nobody writes.

    Raises:
        IndexError: the map reads or writes out of bounds.
    """
    elements = full.reshape(-1)
    shards = {}
    for rank, shard in shard_map.ranks.items():
        cells = torch.full((shard.numel,), torch.nan, dtype=full.dtype)
        for piece in shard.pieces:
            sources, dests = addresses(piece.source), addresses(piece.dest)
            if min(sources + dests, default=0) < 0:
                raise IndexError(f"rank {rank} has a piece at a negative address; only clean maps cut data")
            values = elements[torch.tensor(sources, dtype=torch.int64)]
            scaled = values if piece.scale == ONE else values * float(piece.scale)
            cells[torch.tensor(dests, dtype=torch.int64)] = scaled
        shards[rank] = cells.reshape(shard.shard_shape)
    return shards


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """Memory that torch allocates without a value holds NaN (the largest number for integers)."""
    mode, fills = torch.get_deterministic_debug_mode(), MEMORY.fill_uninitialized_memory
    torch.set_deterministic_debug_mode(DETERMINISTIC_BUT_WARN)
    MEMORY.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(mode)
        MEMORY.fill_uninitialized_memory = fills


def attempt(
    call: Callable[[], Tensors], expected: Tensors, *, names: tuple[type[BaseException], ...], right: bool
) -> Attempt:
    """Make the call, and hold its result against the expected one: same ranks, shapes, types and bits.

    ``names`` are the exceptions that count as a refusal by name. With ``right``, the map that the call is
    about is known to be right, and any refusal of it is a fault of the software.
    """
    try:
        with poisoned_memory():
            made = call()
    except Exception as error:
        by_name = Class.REFUSED if isinstance(error, names) else Class.RAISED
        return Attempt(Class.REFUSED_RIGHT if right else by_name, uninitialised=False, words=said_by(error))
    return compared(made, expected)


def compared(made: Tensors, expected: Tensors) -> Attempt:
    """The result of a call that raised nothing, against what it should have been."""
    if isinstance(made, torch.Tensor) and isinstance(expected, torch.Tensor):
        return _compared(made, expected)
    if isinstance(made, torch.Tensor) or isinstance(expected, torch.Tensor):
        raise TypeError("a parameter cannot be compared with the shards of ranks")
    if made.keys() != expected.keys():
        words = f"ranks {sorted(made)} instead of {sorted(expected)}"
        return Attempt(Class.SILENT, uninitialised=False, words=words)
    found = {rank: _compared(made[rank], expected[rank]) for rank in sorted(made)}
    wrong = [rank for rank, one in found.items() if one.klass is Class.SILENT]
    words = f"rank {wrong[0]}: {found[wrong[0]].words}" if wrong else ""
    uninitialised = any(one.uninitialised for one in found.values())
    return Attempt(Class.SILENT if wrong else Class.EXACT, uninitialised, words)


def said_by(error: Exception) -> str:
    """An exception as one short line, with its type."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:MOST_WORDS]


def _compared(made: torch.Tensor, expected: torch.Tensor) -> Attempt:
    if made.dtype != expected.dtype:
        return Attempt(Class.SILENT, uninitialised=False, words=f"{made.dtype} instead of {expected.dtype}")
    if made.numel() != expected.numel():
        words = f"shape {tuple(made.shape)} instead of {tuple(expected.shape)}"
        return Attempt(Class.SILENT, bool(made.isnan().any()), words)
    flat, wanted = _flat(made), _flat(expected)
    uninitialised = bool((flat.isnan() & ~wanted.isnan()).any())
    differ = (_bits(flat) != _bits(wanted)).any(dim=1).nonzero().flatten().tolist()
    if differ:
        at = differ[0]
        words = f"{len(differ)} of {flat.numel()} elements differ, first {at}: {flat[at]} for {wanted[at]}"
        return Attempt(Class.SILENT, uninitialised, words)
    if made.shape != expected.shape:
        words = f"shape {tuple(made.shape)} instead of {tuple(expected.shape)}"
        return Attempt(Class.SILENT, uninitialised, words)
    return Attempt(Class.EXACT, uninitialised=False, words="")


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().reshape(-1).contiguous()


def _bits(flat: torch.Tensor) -> torch.Tensor:
    """One row of bytes for each element."""
    if not flat.numel():  # an empty tensor may have a stride that no other type can view
        return torch.empty((0, flat.element_size()), dtype=torch.uint8)
    return flat.view(torch.uint8).reshape(flat.numel(), flat.element_size())
