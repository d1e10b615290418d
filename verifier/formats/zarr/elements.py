"""Types of elements and compressions by the names that the metadata of zarr arrays gives them.

A name that no reader knows makes the array unreadable, so it is refused. A type that is known without a fixed
number of bytes has none here; what extensions of version 3 are called is not for us to know, but they have a
dot or a slash in their names.
"""

from __future__ import annotations

import re
from typing import Literal

from verifier.formats.reading.fields import malformed
from verifier.formats.reading.refusal import FormatError, shown
from verifier.model.origin import Origin

Compression = Literal["zstd", "blosc", "opaque"]

_NUMPY = re.compile(r"[<>|=]?([biufcmMSVU])(\d{1,6})(?:\[[a-zA-Z0-9]+\])?", re.ASCII)
_NUMPY_BYTES = {
    "b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 12, 16), "c": (8, 16, 24, 32),
    "m": (8,), "M": (8,),
}  # fmt: skip
"""Bytes of the types that do not come in every size."""
_NUMPY_OBJECT = "|O"
_UNICODE_BYTES = 4

# Types narrower than a byte are stored one to a byte.
_NARROW = r"u?int([24])|float([468])_\w+|bfloat(16)"
_NAMED_2 = re.compile(_NARROW, re.ASCII)
_NAMED_3 = re.compile(rf"{_NARROW}|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)|r(\d{{1,6}})", re.ASCII)
_UNSIZED_3 = frozenset(
    {"string", "bytes", "fixed_length_utf32", "null_terminated_bytes", "raw_bytes", "struct", "structured"}
    | {"variable_length_bytes", "variable_length_utf8"}
)

_COMPRESSORS_2 = frozenset({"blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"})
_CODECS_3 = frozenset(
    {"bytes", "transpose", "crc32c", "sharding_indexed", "blosc", "bz2", "gzip", "lz4", "zlib", "zstd"}
    | {"bitround", "cast_value", "packbits", "scale_offset", "vlen-array", "vlen-bytes", "vlen-utf8"}
)


def item_bytes_2(dtype: object, place: Origin) -> int | None:
    """Bytes of one element of a type of version 2; None for objects, and for one that is made of fields.

    Raises:
        FormatError: SM002 for what is no type.
    """
    if isinstance(dtype, list) or dtype == _NUMPY_OBJECT:
        return None
    if isinstance(dtype, str):
        if (match := _NUMPY.fullmatch(dtype)) and int(match[2]) in _NUMPY_BYTES.get(
            match[1], (int(match[2]),)
        ):
            return int(match[2]) * (_UNICODE_BYTES if match[1] == "U" else 1)
        if match := _NAMED_2.fullmatch(dtype):
            return _bytes_of(match)
    raise _unknown("type of elements", dtype, place, 'such as "<f4"')


def item_bytes_3(dtype: object, place: Origin) -> int | None:
    """Bytes of one element of a type of version 3; None where its name does not say it.

    Raises:
        FormatError: SM002 for what is no type.
    """
    name = dtype.get("name") if isinstance(dtype, dict) else dtype
    if name == "bool":
        return 1
    if isinstance(name, str):
        if match := _NAMED_3.fullmatch(name):
            return _bytes_of(match)
        if name in _UNSIZED_3 or _is_extension(name):
            return None
    raise _unknown("type of elements", name, place, 'such as "float32"')


def compression_2(compressor: object, place: Origin) -> Compression:
    """How a compressor of version 2 stores bytes.

    Raises:
        FormatError: SM002 for one that no reader has.
    """
    name = compressor.get("id") if isinstance(compressor, dict) else compressor
    if not isinstance(name, str) or name not in _COMPRESSORS_2:
        raise _unknown("compressor", name, place, f"known are {', '.join(sorted(_COMPRESSORS_2))}")
    return compression(name)


def known_codec(name: str, place: Origin) -> None:
    """Refuse a codec of version 3 that no reader has.

    Raises:
        FormatError: SM002.
    """
    if name not in _CODECS_3 and not _is_extension(name):
        raise _unknown("codec", name, place, f"known are {', '.join(sorted(_CODECS_3))}")


def compression(name: str) -> Compression:
    """How a compression stores bytes: ``opaque`` where they do not state their number."""
    return "zstd" if name == "zstd" else "blosc" if name == "blosc" else "opaque"


def _bytes_of(match: re.Match[str]) -> int:
    """Of a named type: the group that matched is the number of its bits."""
    return max(1, int(match[match.lastindex or 0]) // 8)


def _is_extension(name: str) -> bool:
    return "." in name or "/" in name


def _unknown(what: str, name: object, place: Origin, known: str) -> FormatError:
    return malformed(f"the {what} {shown(name)} is not known", place, known)
