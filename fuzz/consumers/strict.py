"""What became of a map that other software was given: shards cut by a walk, results compared bit for bit.

Data is cut without the software on trial, and memory that it allocates and never writes shows as NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from zlib import crc32

import numpy as np
import torch

from fuzz.consumers.classes import Class
from fuzz.consumers.memory import poisoned_memory
from fuzz.walk import addresses
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap

Tensors = torch.Tensor | Mapping[int, torch.Tensor]
"""A parameter, or the shards of some ranks."""

REFUSALS = (ValueError, AssertionError, NotImplementedError)
"""What software raises where it refuses a map or its data; torch raises RuntimeError."""
MOST_POWERS = 512
"""So many powers of two leave a double room for scales."""
FIRST_POWERS = 64
FIRST_NUMBERS = 10**6
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

    They are consecutive; where scales take part that a double rounds, they are consecutive powers of two,
    which any scale gives back exactly, up to ``MOST_POWERS`` elements. Every map and name has others, so that
    what is left in memory from another case is wrong here. The last digits count the elements from 1.
    """
    numel = shard_map.numel
    place = crc32(f"{shard_map.name} {shard_map.logical_shape} {shard_map.ranks}".encode())
    if divides_exactly(shard_map) or numel > MOST_POWERS:
        first = (1 + place % FIRST_NUMBERS) * 10 ** len(str(numel))
        values = torch.arange(first + 1, first + 1 + numel, dtype=torch.float64)
    else:
        least = place % min(FIRST_POWERS, 1 + MOST_POWERS - numel)
        values = torch.tensor([2.0 ** (least + k) for k in range(numel)], dtype=torch.float64)
    return values.reshape(shard_map.logical_shape)


def divides_exactly(shard_map: ShardMap) -> bool:
    """Whether every scale is a power of two, so that dividing by it gives the bits of an element back."""
    scales = (piece.scale for _, _, piece in shard_map.pieces() if not piece.is_empty)
    return all(
        isinstance(scale, Fraction) and _is_power(abs(scale.numerator)) and _is_power(scale.denominator)
        for scale in scales
    )


def _is_power(number: int) -> bool:
    return number.bit_count() == 1


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
        return refusal(error, by_name=isinstance(error, names), right=right)
    return compared(made, expected)


def refusal(error: BaseException, *, by_name: bool, right: bool) -> Attempt:
    """What a call comes to that raised."""
    klass = Class.REFUSED if by_name else Class.RAISED
    return Attempt(Class.REFUSED_RIGHT if right else klass, uninitialised=False, words=said_by(error))


def read(made: object) -> torch.Tensor:
    """What somebody else's code returned, as a plain tensor of its own.

    Raises:
        TypeError: it is neither a tensor nor an array.
        Exception: whatever torch and numpy raise where it has no elements to read, as on the device meta.
    """
    if isinstance(made, np.ndarray | np.generic):
        made = torch.from_numpy(np.array(made, order="C"))
    if not isinstance(made, torch.Tensor):
        raise TypeError(f"returned a {type(made).__name__}, neither a tensor of torch nor an array of numpy")
    plain = torch.empty(tuple(made.shape), dtype=made.dtype)
    plain.copy_(made.detach())
    return plain


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


def said_by(error: BaseException) -> str:
    """An exception as one short line, with its type; the same in every process."""
    try:
        text = str(error).strip().partition("\n")[0]
    except Exception:  # the exceptions of others are code of others
        text = "without words"
    said = type(error).__name__ + (f": {text}" if text else "")
    same = re.sub(r"\b0x[0-9a-f]{6,}\b", "0x...", said)
    return same[:MOST_WORDS].encode("utf-8", "backslashreplace").decode("utf-8")


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
