"""zarr arrays: keys and chunks of the grid, and the lengths that stored chunks state about themselves."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.documents import HERE, LIMITS, refusal_of
from tests.formats.orbax.checkpoints import shard
from verifier import check_map
from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.cells import Cells, first_absent
from verifier.formats.zarr.array import Inner, ZarrArray, zarr_array
from verifier.formats.zarr.frames import NotAFrameError, OutOfReadsError, frames
from verifier.formats.zarr.grid import ChunkGrid
from verifier.formats.zarr.shards import absent, overlapping, parts_of

_AXES = st.lists(st.tuples(st.integers(0, 7), st.integers(1, 4)), max_size=3)
_ENCODINGS = st.sampled_from([("", "."), ("", "/"), ("c", "/"), ("c", ".")])


def array(
    shape: tuple[int, ...], chunks: tuple[int, ...], prefix: str = "", separator: str = "."
) -> ZarrArray:
    return ZarrArray(
        origin=HERE, shape=shape, chunks=chunks, item_bytes=4, stored="plain",
        prefix=prefix, separator=separator, has_fill=False,
    )  # fmt: skip


@given(_AXES, _ENCODINGS)
def test_chunks_tile_the_array_and_keys_name_them(
    axes: list[tuple[int, int]], encoding: tuple[str, str]
) -> None:
    shape, chunks = tuple(n for n, _ in axes), tuple(step for _, step in axes)
    grid = ChunkGrid(array(shape, chunks, *encoding))
    keys = [grid.key(position) for position in range(grid.cells.count)]
    assert [grid.position(key) for key in keys] == list(range(grid.cells.count))
    boxes = grid.boxes("w")
    assert boxes.count == len(set(keys))
    covered = [
        index
        for position in range(boxes.count)
        for index in itertools.product(*[range(o, o + s) for o, s in zip(*boxes.box(position), strict=True)])
    ]
    assert sorted(covered) == list(itertools.product(*map(range, shape)))
    if boxes.count:
        assert check_map(boxes.to_shard_map()).subjects[0].verdict == "proved"


@pytest.mark.parametrize("key", ["", ".", "0", "0.", "00.1", "-1.0", "0.0.0", "a.b", "0/0", "c/0/0", "².0"])
def test_what_is_no_key_has_no_place(key: str) -> None:
    grid = ChunkGrid(array((4, 4), (2, 2)))
    assert not grid.is_key(key)
    assert grid.position(key) is None


def test_keys_outside_the_grid_are_keys_without_a_place() -> None:
    grid = ChunkGrid(array((4, 4), (2, 2)))
    assert grid.is_key("2.0")
    assert grid.position("2.0") is None
    assert ChunkGrid(array((), ())).key(0) == "0"
    assert ChunkGrid(array((), (), "c", "/")).key(0) == "c"


@given(st.lists(st.integers(0, 4), max_size=3), st.sets(st.integers(0, 63)))
def test_cells_are_numbered_in_order(counts: list[int], some: set[int]) -> None:
    cells = Cells(tuple(counts))
    places = list(itertools.product(*map(range, counts)))
    assert [cells.position(place) for place in places] == list(range(cells.count))
    assert [cells.indices(position) for position in range(cells.count)] == places
    assert cells.position(tuple(counts)) is (0 if not counts else None)
    assert first_absent(some) == min(set(range(65)) - some)


V2 = {
    "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "compressor": None, "fill_value": None,
    "order": "C", "filters": None,
}  # fmt: skip
V3 = {
    "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}],
}  # fmt: skip


def read_v2(**fields: Any) -> ZarrArray:
    return zarr_array(json.dumps(V2 | fields).encode(), 2, HERE, LIMITS)


def read_v3(**fields: Any) -> ZarrArray:
    return zarr_array(json.dumps(V3 | fields).encode(), 3, HERE, LIMITS)


@pytest.mark.parametrize(
    ("dtype", "item"),
    [
        ("<f4", 4), ("|b1", 1), (">i8", 8), ("<c16", 16), ("|S7", 7), ("<U3", 12), ("<M8[ns]", 8),
        ("bfloat16", 2), ("float8_e4m3fn", 1), ("int4", 1), ("|O", None), ([["a", "<f4"]], None),
    ],
)  # fmt: skip
def test_types_have_their_bytes(dtype: object, item: int | None) -> None:
    assert read_v2(dtype=dtype).item_bytes == item


@pytest.mark.parametrize(
    ("dtype", "item"),
    [
        ("bool", 1), ("float32", 4), ("bfloat16", 2), ("float8_e5m2", 1), ("uint2", 1), ("complex64", 8),
        ("r24", 3), ("string", None), ("numpy.datetime64", None), ({"name": "float64"}, 8),
        ({"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}, None),
    ],
)  # fmt: skip
def test_types_of_version_3_have_their_bytes(dtype: object, item: int | None) -> None:
    assert read_v3(data_type=dtype).item_bytes == item


@pytest.mark.parametrize("dtype", ["<f4x", "<f3", "<i5", "|b7", "float7", "int32x", "x", "", 7, None])
@pytest.mark.parametrize(("reader", "field"), [(read_v2, "dtype"), (read_v3, "data_type")])
def test_a_type_that_no_reader_knows_is_refused(
    dtype: object, reader: Callable[..., ZarrArray], field: str
) -> None:
    refused = refusal_of(lambda: reader(**{field: dtype}))
    assert refused is not None
    assert (refused.code, refused.origin) == ("SM002", HERE.child(field))


@pytest.mark.parametrize("field", [field for field in V2 if field != "zarr_format"])
def test_no_field_of_version_2_may_be_missing(field: str) -> None:
    text = json.dumps({name: value for name, value in V2.items() if name != field}).encode()
    refused = refusal_of(lambda: zarr_array(text, 2, HERE, LIMITS))
    assert refused is not None
    assert refused.code == "SM002"


def test_a_codec_that_no_reader_knows_is_refused() -> None:
    assert read_v3(codecs=[{"name": "bytes"}, {"name": "numcodecs.delta"}]).stored == "opaque"
    refused = refusal_of(lambda: read_v3(codecs=[{"name": "bytes"}, {"name": "zstdx"}]))
    assert refused is not None
    assert (refused.code, refused.origin) == ("SM002", HERE.child("codecs", 1))


@pytest.mark.parametrize(
    ("fields", "stored"),
    [
        ({"compressor": None}, "plain"),
        ({"compressor": {"id": "zstd"}}, "zstd"),
        ({"compressor": {"id": "blosc"}}, "blosc"),
        ({"compressor": {"id": "gzip"}}, "opaque"),
        ({"compressor": None, "filters": [{"id": "delta"}]}, "opaque"),
    ],
)
def test_how_chunks_are_stored(fields: dict[str, Any], stored: str) -> None:
    assert read_v2(**fields).stored == stored


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"shape": [2**62, 4], "chunks": [1, 1]}, "SM002"),
        ({"shape": [1] * 65, "chunks": [1] * 65}, "SM006"),
        ({"chunks": [True]}, "SM005"),
        ({"chunks": [2**64]}, "SM002"),
        ({"dimension_separator": "-"}, "SM002"),
        ({"compressor": 7}, "SM002"),
        ({"compressor": {"id": "zstdx"}}, "SM002"),
        ({"order": "Cx"}, "SM002"),
        ({"zarr_format": "2"}, "SM004"),
        ({"zarr_format": True}, "SM004"),
    ],
)
def test_what_is_no_array_is_refused(fields: dict[str, Any], code: str) -> None:
    refused = refusal_of(lambda: read_v2(**fields))
    assert refused is not None
    assert refused.code == code


MAGIC = bytes.fromhex("28b52ffd")
LAST, RUN = 1, 2


def zstd(blocks: list[bytes], *, size_field: bool, checksum: bool) -> bytes:
    """A frame of stored blocks; RFC 8878 says it unpacks to them."""
    content = b"".join(blocks)
    flags = (2 << 6 | 0x20 if size_field else 0) | (4 if checksum else 0)
    header = bytes([flags]) + (len(content).to_bytes(4, "little") if size_field else b"\x50")
    body = b"".join(
        (len(block) << 3 | (LAST if k == len(blocks) - 1 else 0)).to_bytes(3, "little") + block
        for k, block in enumerate(blocks)
    )
    return MAGIC + header + body + (b"sum!" if checksum else b"")


_BLOCKS = st.lists(st.binary(max_size=9), min_size=1, max_size=4)


def lengths(data: bytes, stored: Any = "zstd", *, before: bytes = b"") -> tuple[int, int | None]:
    found = frames(io.BytesIO(before + data), len(before), len(data), stored, Allowance(1000))
    return found.ends, found.content


@given(_BLOCKS, st.booleans(), st.booleans(), st.binary(max_size=5))
def test_a_zstd_frame_ends_where_it_says(
    blocks: list[bytes], size_field: bool, checksum: bool, before: bytes
) -> None:
    data = zstd(blocks, size_field=size_field, checksum=checksum)
    content = sum(map(len, blocks)) if size_field else None
    assert lengths(data, before=before) == (len(data), content)
    skipped = bytes.fromhex("502a4d18") + (3).to_bytes(4, "little") + b"abc"
    assert lengths(skipped + data + data) == (
        len(skipped) + 2 * len(data),
        None if content is None else 2 * content,
    )


@given(_BLOCKS, st.booleans(), st.booleans(), st.data())
def test_a_cut_zstd_frame_never_seems_whole(
    blocks: list[bytes], size_field: bool, checksum: bool, data: st.DataObject
) -> None:
    whole = zstd(blocks, size_field=size_field, checksum=checksum)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        ends, _ = lengths(cut)
    except NotAFrameError:
        return
    assert ends > len(cut)


def test_a_run_takes_one_byte() -> None:
    data = MAGIC + b"\x20\x64" + (100 << 3 | RUN | LAST).to_bytes(3, "little") + b"x"
    assert lengths(data) == (len(data), 100)
    with pytest.raises(NotAFrameError, match="no zstd block at byte 6"):
        lengths(MAGIC + b"\x20\x64" + (6 | LAST).to_bytes(3, "little"))


def test_blosc_states_both_lengths() -> None:
    header = bytes([2, 1, 0, 4]) + b"".join(n.to_bytes(4, "little") for n in (24, 24, 30))
    assert lengths(header + bytes(14), "blosc") == (30, 24)
    with pytest.raises(NotAFrameError, match="fewer than a blosc header"):
        lengths(header[:9], "blosc")


def test_reads_are_limited() -> None:
    data = zstd([b""] * 50, size_field=False, checksum=False)
    with pytest.raises(OutOfReadsError):
        frames(io.BytesIO(data), 0, len(data), "zstd", Allowance(20))
    with pytest.raises(OutOfReadsError):
        parts_of(io.BytesIO(shard([1] * 6)), len(shard([1] * 6)), array((2, 3), (2, 3)), INNER, Allowance(5))


INNER = Inner(chunks=(1, 1), stored="plain", extra_bytes=0, index_is_known=True)


@given(st.lists(st.integers(0, 5), min_size=6, max_size=6), st.integers(0, 200))
def test_an_index_is_read_back_and_a_cut_one_is_not(sizes: list[int], cut: int) -> None:
    data = shard(sizes)
    parts = parts_of(io.BytesIO(data), len(data), array((2, 3), (2, 3)), INNER, Allowance(10))
    assert [part.size for part in parts] == sizes
    assert [part.place for part in parts] == list(itertools.product(range(2), range(3)))
    assert overlapping(parts) is None
    short = data[: min(cut, len(data) - 1)]
    with pytest.raises(NotAFrameError):
        parts_of(io.BytesIO(short), len(short), array((2, 3), (2, 3)), INNER, Allowance(10))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), min_size=6, max_size=6))
def test_overlaps_are_those_of_the_byte_ranges(ranges: list[tuple[int, int]]) -> None:
    data = shard([18], ranges=ranges)
    parts = parts_of(io.BytesIO(data), len(data), array((2, 3), (2, 3)), INNER, Allowance(10))
    covered = [byte for begin, size in ranges for byte in range(begin, begin + size)]
    assert (overlapping(parts) is not None) == (len(covered) > len(set(covered)))


@given(st.integers(1, 7), st.integers(0, 2))
def test_inner_chunks_beyond_the_array_need_not_be_stored(extent: int, chunk: int) -> None:
    gone = (2**64 - 1, 2**64 - 1)
    data = shard([], ranges=[gone] * 3)
    whole = array((extent,), (3,))
    one = Inner(chunks=(1,), stored="plain", extra_bytes=0, index_is_known=True)
    parts = parts_of(io.BytesIO(data), len(data), whole, one, Allowance(10))
    found = [3 * chunk + part.place[0] for part in absent(parts, whole, one, (chunk,))]
    assert found == [at for at in range(3 * chunk, 3 * chunk + 3) if at < extent]


def test_a_huge_index_is_not_listed() -> None:
    wide = array((2**40,), (2**40,))
    one = Inner(chunks=(1,), stored="plain", extra_bytes=0, index_is_known=True)
    with pytest.raises(NotAFrameError, match="fewer than its index"):
        parts_of(io.BytesIO(b"abc"), 3, wide, one, Allowance(10))
    assert math.prod(wide.shape) == 2**40
