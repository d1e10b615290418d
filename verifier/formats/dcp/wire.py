"""Contents as bytes, for the way from a child process: a JSON header, then the columns.

Decoding trusts nothing: the child parsed a hostile file in C code. What comes back is numbers and texts,
checked one by one.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import IO

from verifier.formats.dcp.contents import (
    NOWHERE,
    Contents,
    Nesting,
    Several,
    Storage,
    StoredObject,
    StoredTensor,
)
from verifier.formats.pickles.dtypes import DTYPES
from verifier.formats.pickles.records import Name
from verifier.formats.reading.document import Refusal
from verifier.model.box_map import COLUMN
from verifier.model.origin import Origin

WIDTH = 8
"""Bytes of a number of a column, and of the length of the header."""


class WireError(ValueError):
    """The bytes are not what ``encoded`` makes."""


def encoded(contents: Contents) -> Iterator[bytes | memoryview]:
    """The bytes of contents, in parts."""
    storage = contents.storage
    header = {
        "tensors": [[t.name, t.dtype, list(t.shape), t.count] for t in contents.tensors],
        "objects": [[item.name, item.entry] for item in contents.objects],
        "paths": list(storage.paths),
        "rows": len(storage.path),
        "transforms": list(storage.transforms),
        "orphans": _several(contents.orphans),
        "repeated": _several(contents.repeated),
        "nesting": {place: _several(getattr(contents.nesting, place)) for place in Nesting.__slots__},
        "reformed": {name: list(shape) for name, shape in contents.reformed.items()},
        "tells": None if contents.tells_reformed is None else sorted(contents.tells_reformed),
        "refusals": [[r.name, r.origin.pointer, r.code, r.message, r.help] for r in contents.refusals],
    }
    text = json.dumps(header).encode("ascii")
    yield len(text).to_bytes(WIDTH, "little")
    yield text
    for column in (storage.path, storage.start, storage.length):
        yield memoryview(column).cast("B")
    yield bytes(storage.coded)
    for tensor in contents.tensors:
        for column in (tensor.offsets, tensor.sizes, tensor.entries):
            yield memoryview(column).cast("B")


def decoded(file: IO[bytes], size: int, name: str) -> Contents:
    """The contents that ``size`` bytes of a file stand for; ``name`` is what people call the metadata file.

    Raises:
        WireError: they stand for none.
    """
    reader = _Reader(file, size)
    try:
        header = json.loads(reader.take(int.from_bytes(reader.take(WIDTH), "little")))
        contents = _contents(header, reader, name)
    except (TypeError, KeyError, ValueError, RecursionError) as error:
        raise WireError(f"not the answer of a reader: {error}") from None
    if reader.left:
        raise WireError(f"{reader.left} bytes too many")
    return contents


class _Reader:
    """Reads exactly what is there; ``left`` are the bytes not read yet."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file = file
        self.left = size

    def take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise WireError(f"{count} bytes announced, {self.left} left")
        self.left -= count
        data = self.file.read(count)
        if len(data) != count:
            raise WireError(f"{count} bytes announced, {len(data)} came")
        return data

    def column(self, length: int, *, low: int | None = None, high: int | None = None) -> array[int]:
        """A column of ``length`` numbers, each in [low, high) where given."""
        column = array(COLUMN, self.take(WIDTH * length))
        if column and low is not None and min(column) < low:
            raise WireError(f"{min(column)} in a column that begins at {low}")
        if column and high is not None and max(column) >= high:
            raise WireError(f"{max(column)} in a column that ends before {high}")
        return column


def _contents(header: dict[str, object], reader: _Reader, name: str) -> Contents:
    paths = _texts(header["paths"])
    rows = _count(header["rows"])
    storage = Storage(
        paths=paths,
        path=reader.column(rows, low=NOWHERE, high=len(paths)),
        start=reader.column(rows, low=0),
        length=reader.column(rows, low=0),
        coded=bytearray(reader.take(rows)),
        transforms=_texts(header["transforms"]),
    )
    tells = header["tells"]
    return Contents(
        tensors=tuple(_tensor(entry, rows, reader) for entry in _list(header["tensors"])),
        objects=tuple(_object(entry, rows) for entry in _list(header["objects"])),
        storage=storage,
        orphans=_read_several(header["orphans"]),
        repeated=_read_several(header["repeated"]),
        nesting=Nesting(**{place: _read_several(value) for place, value in _dict(header["nesting"]).items()}),
        reformed={_text(name): _shape(shape) for name, shape in _dict(header["reformed"]).items()},
        tells_reformed=None if tells is None else frozenset(_texts(tells)),
        refusals=tuple(_refusal(entry, name) for entry in _list(header["refusals"])),
    )


def _tensor(entry: object, rows: int, reader: _Reader) -> StoredTensor:
    name, dtype, extents, count = _list(entry)
    shape, chunks = _shape(extents), _count(count)
    if Name("torch", _text(dtype)) not in DTYPES:
        raise WireError("an unknown type of elements")
    return StoredTensor(
        name=_text(name),
        dtype=_text(dtype),
        shape=shape,
        count=chunks,
        offsets=reader.column(chunks * len(shape)),
        sizes=reader.column(chunks * len(shape), low=0),
        entries=reader.column(chunks, low=NOWHERE, high=rows),
    )


def _object(entry: object, rows: int) -> StoredObject:
    name, row = _list(entry)
    if type(row) is not int or not NOWHERE <= row < rows:
        raise WireError("an entry that is not there")
    return StoredObject(name=_text(name), entry=row)


def _refusal(entry: object, file: str) -> Refusal:
    name, pointer, code, message, advice = _texts(entry)
    return Refusal(name=name, origin=Origin(file, pointer), code=code, message=message, help=advice)


def _several(value: Several | None) -> list[object] | None:
    return None if value is None else [value.count, value.first]


def _read_several(value: object) -> Several | None:
    if value is None:
        return None
    count, first = _list(value)
    return Several(_count(count), _text(first))


def _list(value: object) -> list[object]:
    if type(value) is not list:
        raise WireError("no list")
    return value


def _dict(value: object) -> dict[str, object]:
    if type(value) is not dict:
        raise WireError("no object")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise WireError("no text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_text(item) for item in _list(value))


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise WireError("no count")
    return value


def _shape(value: object) -> tuple[int, ...]:
    return tuple(_count(extent) for extent in _list(value))
