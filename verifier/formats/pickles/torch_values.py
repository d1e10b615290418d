"""Numbers of tensors in a file of torch.save, read only where values are asked for.

Nothing is computed with them: a counter is compared, a sign is looked for.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping

from verifier.formats.pickles.torch_zip import TensorHeader
from verifier.geometry.strided import row_major


def _bfloat16(raw: bytes) -> float:
    value: float = struct.unpack("<f", b"\0\0" + raw)[0]
    return value


def _plain(form: str) -> Callable[[bytes], float]:
    def decode(raw: bytes) -> float:
        value: float = struct.unpack(f"<{form}", raw)[0]
        return value

    return decode


_DECODERS: dict[str, tuple[int, Callable[[bytes], float]]] = {
    "float64": (8, _plain("d")),
    "float32": (4, _plain("f")),
    "float16": (2, _plain("e")),
    "bfloat16": (2, _bfloat16),
    "int64": (8, _plain("q")),
    "int32": (4, _plain("i")),
}
"""Bytes of one number and how it is read, by dtype."""

_SIGN = 0x80


def bytes_of(header: TensorHeader, storages: Mapping[str, bytes]) -> bytes | None:
    """The bytes of a tensor in row-major order.

    None when they are not in one run, are not all there, or its storage or dtype is not known.
    """
    raw = storages.get(header.storage)
    if raw is None or header.dtype not in _DECODERS or header.offset < 0:
        return None
    dense = row_major(header.shape)
    if any(n > 1 and a != b for n, a, b in zip(header.shape, header.strides, dense, strict=True)):
        return None
    width, _ = _DECODERS[header.dtype]
    start, size = header.offset * width, header.numel * width
    part = raw[start : start + size]
    return part if len(part) == size else None


def scalar_in(header: TensorHeader, storages: Mapping[str, bytes]) -> float | None:
    """The number of a tensor of one element; None where it cannot be read."""
    raw = bytes_of(header, storages) if header.numel == 1 else None
    return None if raw is None else _DECODERS[header.dtype][1](raw)


def first_negative(header: TensorHeader, storages: Mapping[str, bytes]) -> tuple[int, float] | None:
    """The first element below 0, with its row-major position; -0.0 and NaN are not below 0."""
    raw = bytes_of(header, storages)
    if raw is None:
        return None
    width, decode = _DECODERS[header.dtype]
    signs = raw[width - 1 :: width]
    # Most moments have no sign bit at all, and that is seen at the speed of C.
    if not signs or max(signs) < _SIGN:
        return None
    for position, byte in enumerate(signs):
        if byte >= _SIGN:
            value = decode(raw[position * width : (position + 1) * width])
            if value < 0:
                return position, value
    return None


_SET = re.compile(b"[^\0\x80]")
"""A byte that neither 0.0 nor -0.0 has. The few other numbers without one are below 1e-37, or wide of it."""


def first_not_zero(header: TensorHeader, storages: Mapping[str, bytes]) -> tuple[int, float] | None:
    """An element that is not 0, with its row-major position: the first that has a byte of ``_SET``."""
    raw = bytes_of(header, storages)
    found = None if raw is None else _SET.search(raw)
    if raw is None or found is None:
        return None
    width, decode = _DECODERS[header.dtype]
    position = found.start() // width
    return position, decode(raw[position * width : (position + 1) * width])


_ALL_ONES = {dtype: re.compile(b"[\x7f\xff]") for dtype in ("float64", "float32", "bfloat16")}
_ALL_ONES["float16"] = re.compile(b"[\x7c-\x7f\xfc-\xff]")
"""The highest byte of numbers that may have an exponent of ones: infinities, NaN, and few that are huge."""


def first_not_finite(header: TensorHeader, storages: Mapping[str, bytes]) -> tuple[int, float] | None:
    """The first element that is NaN or infinite, with its row-major position."""
    raw = bytes_of(header, storages) if header.dtype in _ALL_ONES else None
    if raw is None:
        return None
    width, decode = _DECODERS[header.dtype]
    # Moments have hardly any such byte, and that is seen at the speed of C.
    for found in _ALL_ONES[header.dtype].finditer(raw[width - 1 :: width]):
        position = found.start()
        value = decode(raw[position * width : (position + 1) * width])
        if not math.isfinite(value):
            return position, value
    return None


def integers_in(header: TensorHeader, storages: Mapping[str, bytes]) -> tuple[int, ...] | None:
    """The numbers of a tensor of integers in row-major order; None where they cannot be read."""
    raw = bytes_of(header, storages) if header.dtype in ("int32", "int64") else None
    if raw is None:
        return None
    width, decode = _DECODERS[header.dtype]
    return tuple([int(decode(raw[at : at + width])) for at in range(0, len(raw), width)])
