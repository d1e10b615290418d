"""The metadata of one zarr array, version 2 (``.zarray``) or 3 (``zarr.json``): a grid of chunks, each stored
under a key of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from verifier.formats.reading.fields import integers, items_of, malformed
from verifier.formats.reading.json_file import json_value
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.zarr.elements import (
    compression,
    compression_2,
    item_bytes_2,
    item_bytes_3,
    known_codec,
)
from verifier.geometry.strided import INT64_MAX
from verifier.model.origin import Origin

METADATA_V2 = ".zarray"
METADATA_V3 = "zarr.json"

Stored = Literal["plain", "zstd", "blosc", "opaque", "shard"]
"""How the bytes of a chunk are stored: ``opaque`` where their number says nothing, ``shard`` where the chunk
consists of smaller ones with an index.
"""

Plain = Mapping[str, object]

_NEEDED_2 = ("shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters")
_CHECKSUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class Inner:
    """The smaller chunks of which each chunk of an array consists.

    Attributes:
        chunks: shape of one; so many of them as whole numbers make up the chunk.
        stored: how the bytes of one are stored.
        extra_bytes: bytes that are stored with each one beside its elements.
        index_is_known: whether the index is at the end, as plain numbers with a checksum.
    """

    chunks: tuple[int, ...]
    stored: Stored
    extra_bytes: int
    index_is_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ZarrArray:
    """What the metadata says.

    Attributes:
        origin: the metadata.
        shape: of the array, elements.
        chunks: shape of a chunk; the last one along an axis is stored in full and cut when it is read.
        inner: the chunks that each stored chunk consists of, None when it is not divided.
        item_bytes: bytes of one element, None when the type is not known.
        stored: how the bytes of a chunk are stored.
        extra_bytes: bytes that are stored with each chunk beside its elements, such as a checksum.
        prefix: what every chunk key begins with.
        separator: what stands between the numbers of a key.
        has_fill: whether the metadata says what a chunk that is not stored holds.
    """

    origin: Origin
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    inner: Inner | None = None
    item_bytes: int | None
    stored: Stored
    extra_bytes: int = 0
    prefix: str = ""
    separator: str
    has_fill: bool

    @property
    def chunk_bytes(self) -> int | None:
        """Bytes of the elements of one chunk, None when their type is not known."""
        return None if self.item_bytes is None else self.item_bytes * math.prod(self.chunks)


def zarr_array(data: bytes, version: int, origin: Origin, limits: Limits) -> ZarrArray:
    """The array that the text of a ``.zarray`` (version 2) or a ``zarr.json`` (version 3) describes.

    Raises:
        FormatError: SM001, SM002, SM003, SM005 or SM006; SM004 for another version.
    """
    value = json_value(data, origin, limits)
    if not isinstance(value, dict):
        raise malformed(f"expected an object, found {shown(value)}", origin, "write the array again")
    stated = value.get("zarr_format")
    if type(stated) is not int or stated != version:
        raise FormatError(
            "SM004",
            f"zarr_format is {shown(stated)} in metadata of version {version}",
            origin.child("zarr_format"),
            help="known are version 2 in .zarray and version 3 in zarr.json",
        )
    return _version_2(value, origin, limits) if version == 2 else _version_3(value, origin, limits)


def _version_2(value: Plain, origin: Origin, limits: Limits) -> ZarrArray:
    for key in _NEEDED_2:
        if key not in value:
            raise malformed(f"the field {shown(key)} is missing", origin, "write it: readers need each")
    separator = value.get("dimension_separator", ".")
    if separator not in (".", "/"):
        raise malformed(
            f"dimension_separator is {shown(separator)}",
            origin.child("dimension_separator"),
            'write "." or "/"',
        )
    shape, chunks = _grid(value["shape"], value["chunks"], origin, ("chunks",), limits)
    if value["order"] not in ("C", "F"):
        raise malformed(f"order is {shown(value['order'])}", origin.child("order"), 'write "C" or "F"')
    stored: Stored = "plain"
    if value["compressor"] is not None:
        stored = compression_2(value["compressor"], origin.child("compressor"))
    if value["filters"]:
        stored = "opaque"
    return ZarrArray(
        origin=origin,
        shape=shape,
        chunks=chunks,
        item_bytes=item_bytes_2(value["dtype"], origin.child("dtype")),
        stored=stored,
        separator=str(separator),
        has_fill=value["fill_value"] is not None,
    )


def _version_3(value: Plain, origin: Origin, limits: Limits) -> ZarrArray:
    if value.get("node_type") != "array":
        raise malformed(
            f"node_type is {shown(value.get('node_type'))}", origin.child("node_type"), "name an array"
        )
    grid = _configured(value.get("chunk_grid"), "chunk grid", origin.child("chunk_grid"))
    if grid[0] != "regular":
        raise malformed(
            f"the chunk grid {shown(grid[0])} is not known", origin.child("chunk_grid"), "use a regular grid"
        )
    at = ("chunk_grid", "configuration", "chunk_shape")
    shape, chunks = _grid(value.get("shape"), grid[1].get("chunk_shape"), origin, at, limits)
    prefix, separator = _key_encoding(value.get("chunk_key_encoding"), origin)
    codecs = _codecs(value.get("codecs"), origin, "codecs")
    inner: Inner | None = None
    stored: Stored = "shard"
    extra = 0
    if codecs and codecs[0][0] == "sharding_indexed":
        inner = _inner(codecs[0][1], chunks, origin.child("codecs", 0, "configuration"), limits)
    else:
        stored, extra = _pipeline(codecs)
    return ZarrArray(
        origin=origin,
        shape=shape,
        chunks=chunks,
        inner=inner,
        item_bytes=item_bytes_3(value.get("data_type"), origin.child("data_type")),
        stored=stored,
        extra_bytes=extra,
        prefix=prefix,
        separator=separator,
        has_fill=value.get("fill_value") is not None,
    )


def _codecs(value: object, origin: Origin, *at: str | int) -> list[tuple[str, Plain]]:
    place = origin.child(*at)
    codecs = [
        _configured(codec, "codec", place.child(position))
        for position, codec in enumerate(items_of(value, place))
    ]
    for position, (name, _) in enumerate(codecs):
        known_codec(name, place.child(position))
    return codecs


def _inner(configuration: Plain, chunks: tuple[int, ...], origin: Origin, limits: Limits) -> Inner:
    _, inner = _grid(list(chunks), configuration.get("chunk_shape"), origin, ("chunk_shape",), limits)
    if any(outer % size for outer, size in zip(chunks, inner, strict=True)):
        raise malformed(
            f"chunks of {list(inner)} do not divide {list(chunks)}",
            origin.child("chunk_shape"),
            "use divisors",
        )
    stored, extra = _pipeline(_codecs(configuration.get("codecs"), origin, "codecs"))
    index = [name for name, _ in _codecs(configuration.get("index_codecs"), origin, "index_codecs")]
    return Inner(
        chunks=inner,
        stored=stored,
        extra_bytes=extra,
        index_is_known=index == ["bytes", "crc32c"] and configuration.get("index_location", "end") == "end",
    )


def _grid(
    shape: object, chunks: object, origin: Origin, at: Sequence[str | int], limits: Limits
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    extents = integers(shape, origin, "shape")
    steps = integers(chunks, origin, *at)
    place = origin.child("shape")
    if len(extents) > limits.axes:
        raise FormatError(
            "SM006", f"{len(extents)} axes, over the limit of {limits.axes}", place, help="merge axes"
        )
    if any(extent < 0 for extent in extents) or math.prod(extents) > INT64_MAX:
        raise malformed(f"{list(extents)} is no shape of a tensor", place, "write the shape that was meant")
    if len(steps) != len(extents) or any(not 0 < step <= INT64_MAX for step in steps):
        raise malformed(
            f"{list(steps)} is no chunk of an array of {len(extents)} axes",
            origin.child(*at),
            "write one positive size for each axis",
        )
    return extents, steps


def _configured(value: object, what: str, place: Origin) -> tuple[str, Plain]:
    """(name, configuration) of an extension point of version 3; a bare name is one without configuration."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        configuration = value.get("configuration", {})
        if isinstance(configuration, dict):
            return value["name"], configuration
    raise malformed(f"the {what} is {shown(value)}", place, "write a name and a configuration")


def _key_encoding(value: object, origin: Origin) -> tuple[str, str]:
    place = origin.child("chunk_key_encoding")
    name, configuration = _configured(value, "chunk key encoding", place)
    defaults = {"default": ("c", "/"), "v2": ("", ".")}
    if name in defaults:
        prefix, separator = defaults[name]
        separator = str(configuration.get("separator", separator))
        if separator in (".", "/"):
            return prefix, separator
    raise malformed(
        f"the chunk key encoding {shown(name)} is not known",
        place,
        "use default or v2",
    )


def _pipeline(codecs: Sequence[tuple[str, Plain]]) -> tuple[Stored, int]:
    """How the bytes are stored, and how many come on top of the elements."""
    known = [name for name, _ in codecs if name != "transpose"]
    if known == ["bytes"]:
        return "plain", 0
    if known == ["bytes", "crc32c"]:
        return "plain", _CHECKSUM_BYTES
    if len(known) == 2 and known[0] == "bytes":
        return compression(known[1]), 0
    return "opaque", 0
