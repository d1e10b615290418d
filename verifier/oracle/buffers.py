"""Memory of exactly the right size, filled with bits that are known.

Torch checks a view against the *storage* it lives in. Storages here hold their buffer and nothing else, so
a view that leaves its shard is refused by torch and cannot read a neighbour unnoticed.
Everything is compared as integers of the same width: equal NaNs are equal, -0.0 is not 0.0.
"""

from __future__ import annotations

from enum import Enum

import torch

from verifier.geometry.strided import StridedView
from verifier.oracle.errors import DeviceUnavailableError

_CARRIERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.int64}
"""Bytes of an element to the integer dtype that shows its bits; 16 bytes show as two words."""


class Poison(Enum):
    """The bits of memory that nobody has written yet."""

    ZEROS = 0
    ONES = 1


def usable_device(device: str | torch.device) -> torch.device:
    """The device, after memory was allocated on it.

    Raises:
        DeviceUnavailableError: torch does not know it, sees none of its kind, or it holds no data (meta).
    """
    try:
        known = torch.device(device)
    except (RuntimeError, ValueError) as error:
        raise DeviceUnavailableError(f"{str(device)!r} is not a device that torch knows") from error
    if known.type == "meta":
        raise DeviceUnavailableError("device 'meta' holds no data, so nothing can be replayed on it")
    try:
        return torch.zeros(1, dtype=torch.int64, device=known).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).strip().split("\n", maxsplit=1)[0]
        raise DeviceUnavailableError(
            f"device {str(known)!r} is not available to torch {torch.__version__}: {said}"
        ) from error


def dtype_named(name: str) -> torch.dtype:
    """The dtype called ``name``, e.g. "bfloat16".

    Raises:
        DeviceUnavailableError: this torch has no such dtype.
    """
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise DeviceUnavailableError(f"torch {torch.__version__} has no dtype {name!r}")
    return dtype


def dtype_name(dtype: torch.dtype) -> str:
    """How torch spells a dtype, without the module."""
    return str(dtype).removeprefix("torch.")


def require_storable(dtype: torch.dtype, device: torch.device) -> None:
    """Makes sure that torch can copy this dtype there, so that a later refusal is about the map.

    Raises:
        DeviceUnavailableError: it has no kernel for it (the sub-byte integers have none).
    """
    try:
        buffer = poisoned(4, dtype, device, Poison.ZEROS)
        buffer.as_strided((2, 2), (1, 2), 0).copy_(poisoned(4, dtype, device, Poison.ONES).view(2, 2))
    except (RuntimeError, NotImplementedError, TypeError) as error:
        raise DeviceUnavailableError(
            f"torch {torch.__version__} cannot copy {dtype_name(dtype)} on {str(device)!r}"
        ) from error


def word_bits(dtype: torch.dtype) -> int:
    """How many bits of an element can be chosen freely in its first word."""
    return 1 if dtype == torch.bool else 8 * _CARRIERS[dtype.itemsize].itemsize


def words(dtype: torch.dtype) -> int:
    """How many integers show the bits of one element."""
    return dtype.itemsize // _CARRIERS[dtype.itemsize].itemsize


def from_words(integers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A flat buffer of ``dtype`` with these bits.

    Args:
        integers: int64, (numel, words(dtype)); only the low bits of a word count.
        dtype: of the result.
    """
    return integers.to(_CARRIERS[dtype.itemsize]).reshape(-1).view(dtype)


def to_words(tensor: torch.Tensor) -> torch.Tensor:
    """The bits of the elements in row-major order: integers, (numel, words(dtype))."""
    shown = tensor.reshape(-1).contiguous().view(_CARRIERS[tensor.dtype.itemsize])
    return shown.view(tensor.numel(), words(tensor.dtype))


def poisoned(numel: int, dtype: torch.dtype, device: torch.device, poison: Poison) -> torch.Tensor:
    """A flat buffer whose storage holds exactly ``numel`` elements, every bit as the poison says.

    A bool has one bit: False or True.
    """
    ones = 1 if dtype == torch.bool else -1
    pattern = ones if poison is Poison.ONES else 0
    integers = torch.full((numel, words(dtype)), pattern, dtype=torch.int64, device=device)
    return from_words(integers, dtype)


def exact_copy(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The elements in row-major order, flat, in a storage of their own that holds nothing else."""
    copy = torch.empty(tensor.numel(), dtype=tensor.dtype, device=device)
    copy.copy_(tensor.reshape(-1))
    return copy


def strided(buffer: torch.Tensor, view: StridedView) -> torch.Tensor:
    """The view of a flat buffer, by torch itself; whatever torch raises passes through."""
    return buffer.as_strided(view.shape, view.strides, view.offset)
