"""The header of a safetensors file: eight bytes of length, JSON text, then the bytes of the tensors.

Only the header is read. A tensor whose entry is wrong is refused by itself; what makes the whole header
ambiguous, such as a name that stands there twice, refuses the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import fields_of, integers, malformed, name_text
from verifier.formats.reading.json_text import over_limit, parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.formats.reading.regular import regular
from verifier.geometry.strided import INT64_MAX
from verifier.model.origin import Origin

LENGTH_BYTES = 8
METADATA = "__metadata__"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"

_FIELDS = ("dtype", "shape", "data_offsets")

BITS: Mapping[str, int] = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8"), 8),
    **dict.fromkeys(("F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}
"""Every type of release 0.8 of the format, with the bits of one element."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes of one tensor, counted from the end of the header; ``end`` is one past the last."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor without its values. Bytes are counted from the end of the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a safetensors file says of itself.

    Attributes:
        origin: the file.
        data_start: where the bytes of tensors begin in the file.
        data_bytes: how many bytes follow the header.
        tensors: those whose entry could be read, in the order of the header.
        ranges: the byte ranges that could be read, those of refused tensors included.
        refusals: entries that could not be read.
        unplaced: names of those among them that have no byte range either.
        metadata: the texts of ``__metadata__``.
    """

    origin: Origin
    data_start: int
    data_bytes: int
    tensors: tuple[StoredTensor, ...]
    ranges: tuple[ByteRange, ...]
    refusals: tuple[Refusal, ...]
    unplaced: tuple[str, ...]
    metadata: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Every name in the header, those of refused entries included."""
        return (*[each.name for each in self.ranges], *self.unplaced)

    def tensor_origin(self, tensor: StoredTensor) -> Origin:
        """The place of a tensor's entry."""
        return self.origin.child(tensor.name)


def read_header(path: Path, origin: Origin, limits: Limits) -> Header:
    """The header of a file.

    Raises:
        FormatError: SM001 for what is no safetensors file, or one that ends inside its header; SM002, SM003
            or SM005 for a header with more than one meaning; SM006 over a limit.
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    with open(path, "rb", opener=regular) as file:
        text = _header_text(file, size, origin, limits)
    try:
        parsed = parse(text, origin, limits)
        if parsed.flaws:
            raise parsed.flaws[0]
    except FormatError as error:
        # Lines and columns of the header are no places in the file.
        message = f"in the header: {error.message}"
        raise FormatError(error.code, message, error.origin, help=error.help) from None
    if not isinstance(parsed.value, dict):
        raise malformed(f"the header is {shown(parsed.value)}", origin, "write an object, one key a tensor")
    entries = _Entries(origin, limits)
    for name, entry in parsed.value.items():
        if name != METADATA:
            entries.read(name, entry)
    start = LENGTH_BYTES + len(text)
    return Header(
        origin=origin,
        data_start=start,
        data_bytes=size - start,
        tensors=tuple(entries.tensors),
        ranges=tuple(entries.ranges),
        refusals=tuple(entries.refusals),
        unplaced=tuple(entries.unplaced),
        metadata=_metadata(parsed.value.get(METADATA), origin.child(METADATA)),
    )


def _header_text(file: BinaryIO, size: int, origin: Origin, limits: Limits) -> bytes:
    prefix = file.read(LENGTH_BYTES)
    again = "copy the file again from where it was written"
    if LFS_POINTER.startswith(prefix) and prefix:
        raise FormatError(
            "SM001",
            "this is a Git LFS pointer, not the file that it stands for",
            origin,
            help="run git lfs pull in the repository",
        )
    if len(prefix) < LENGTH_BYTES:
        raise FormatError(
            "SM001",
            f"the file has {len(prefix)} bytes, and its header length alone needs 8",
            origin,
            help=again,
        )
    length = int.from_bytes(prefix, "little")
    if length > size - LENGTH_BYTES:
        raise FormatError(
            "SM001",
            f"the file ends inside its header: {length} bytes are announced, {size - LENGTH_BYTES} follow",
            origin,
            help=again,
        )
    if length > limits.json_bytes:
        raise over_limit(f"a header of {length} bytes", limits.json_bytes, "bytes", origin)
    text = file.read(length)
    if len(text) < length:
        raise FormatError("SM001", "the file became shorter while it was read", origin, help=again)
    return text


class _Entries:
    """The entries of a header while they are read."""

    __slots__ = ("limits", "origin", "ranges", "refusals", "tensors", "unplaced")

    def __init__(self, origin: Origin, limits: Limits) -> None:
        self.origin = origin
        self.limits = limits
        self.tensors: list[StoredTensor] = []
        self.ranges: list[ByteRange] = []
        self.refusals: list[Refusal] = []
        self.unplaced: list[str] = []

    def read(self, name: str, entry: object) -> None:
        """One tensor; its bytes are known even where its type or shape is not."""
        place = below(self.origin, name)
        placed = False
        try:
            fields = _fields(entry, place)
            begin, end = _byte_range(fields["data_offsets"], place)
            self.ranges.append(ByteRange(name, begin, end))
            placed = True
            tensor = StoredTensor(
                tensor_name(name, place, self.limits),
                _dtype(fields["dtype"], place),
                _shape(fields["shape"], place, self.limits),
                begin,
                end,
            )
        except FormatError as error:
            plain = name.isprintable() and len(name) <= self.limits.text_chars
            self.refusals.append(Refusal.of(name if plain else shown(name), error))
            if not placed:
                self.unplaced.append(name)
        else:
            self.tensors.append(tensor)


def tensor_name(name: object, place: Origin, limits: Limits) -> str:
    """The name of a tensor. The library takes any text of Unicode, tabs too; it is escaped where it is shown.

    Raises:
        FormatError: SM002 for what is no text, SM006 for one that is too long.
    """
    if isinstance(name, str) and not name.isprintable() and len(name) <= limits.text_chars:
        try:
            name.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            raise malformed(f"the name {shown(name)} is no text", place, "rename the tensor") from None
        return name
    return name_text(name, place, limits)


def _fields(entry: object, place: Origin) -> Mapping[str, object]:
    """The fields of an entry. The library passes over those that it does not know."""
    known = entry
    if isinstance(entry, dict) and len(entry) > len(_FIELDS):
        known = {key: value for key, value in entry.items() if key in _FIELDS}
    return fields_of(known, place, required=_FIELDS)


# A model has many fields and few that are wrong: the place of one is made where it is wrong.


def _byte_range(value: object, entry: Origin) -> tuple[int, int]:
    offsets = integers(value, entry, "data_offsets")
    if len(offsets) == 2 and 0 <= offsets[0] <= offsets[1] <= INT64_MAX:
        return offsets[0], offsets[1]
    place = entry.child("data_offsets")
    if len(offsets) != 2:
        raise malformed(f"data_offsets has {len(offsets)} numbers", place, "write where it begins and ends")
    begin, end = offsets
    if begin < 0 or end < begin:
        raise FormatError(
            "CK113",
            f"data_offsets [{begin}, {end}] are no range of bytes",
            place,
            help="write the first byte and one past the last, counted from the end of the header",
        )
    raise _too_wide(f"data_offsets end at {end}", place)


def _dtype(value: object, entry: Origin) -> str:
    if isinstance(value, str) and value in BITS:
        return value
    known = f"known are {', '.join(BITS)}"
    raise malformed(f"{shown(value)} is no type of safetensors", entry.child("dtype"), known)


def _shape(value: object, entry: Origin, limits: Limits) -> tuple[int, ...]:
    shape = integers(value, entry, "shape")
    if len(shape) > limits.axes:
        raise over_limit(f"{len(shape)} dimensions", limits.axes, "dimensions", entry.child("shape"))
    for axis, extent in enumerate(shape):
        if extent < 0:
            raise FormatError(
                "SM104",
                f"dimension {axis} has the extent {extent}",
                entry.child("shape", axis),
                help="write 0 for an empty dimension",
            )
        if extent > INT64_MAX:
            raise _too_wide(f"dimension {axis} has the extent {extent}", entry.child("shape", axis))
    if math.prod(shape) > INT64_MAX:
        raise FormatError(
            "CK113",
            f"a tensor of shape {list(shape)} has {shown(math.prod(shape))} elements, more than any file",
            entry.child("shape"),
            help="write the shape that was meant",
        )
    return shape


def _too_wide(message: str, place: Origin) -> FormatError:
    return FormatError(
        "SM109", f"{message}, more than 64 bits hold", place, help="write the number that was meant"
    )


def _metadata(value: object, place: Origin) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise malformed(f"{METADATA} is {shown(value)}", place, "write an object of texts")
    texts: dict[str, str] = {}
    for key, text in value.items():
        if not isinstance(text, str):
            raise malformed(
                f"expected text, found {shown(text)}", below(place, key), "write a text in quotes"
            )
        texts[key] = text
    return texts
