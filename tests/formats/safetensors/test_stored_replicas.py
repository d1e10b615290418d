"""Replicas compared by their bits: against a walk of every element, and as files beside a map."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.formats.audited import replay_entry, said
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, mutants, outcome
from tests.formats.safetensors.samples import framed
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import Limits, Request, read
from verifier.formats.safetensors.replica_bits import replica_drift, run_count
from verifier.geometry.strided import StridedView, row_major
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

ENTRIES = [
    entry
    for entry in read_manifest(SAMPLES / "manifest.json")
    if entry.path.relative_to(SAMPLES).as_posix().startswith("drift_")
]
ITEM = 2


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path.name)
def test_every_sample_has_its_verdict_and_cause(entry) -> None:  # type: ignore[no-untyped-def]
    replayed = replay_entry(entry, Settings(repair=False))
    assert replayed.agrees, replayed.got


def test_the_samples_are_there() -> None:
    assert len(ENTRIES) == 4


def box(shape: tuple[int, int], at: tuple[int, int], sizes: tuple[int, int], *, turned: bool) -> Piece:
    """A box of a matrix, kept row by row, or column by column."""
    source = StridedView(at[0] * shape[1] + at[1], sizes, row_major(shape))
    dest = StridedView(0, sizes, (1, sizes[0]) if turned else row_major(sizes))
    return Piece(source, dest, (0,))


@st.composite
def held(draw: st.DrawFn) -> tuple[ShardMap, dict[int, bytes]]:
    """Boxes of a matrix on several ranks, and what each stores: equal bits, but for a few of them."""
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    ranks: dict[int, RankShard] = {}
    stored: dict[int, bytes] = {}
    for rank in range(draw(st.integers(1, 4))):
        at = (draw(st.integers(0, shape[0] - 1)), draw(st.integers(0, shape[1] - 1)))
        sizes = (draw(st.integers(0, shape[0] - at[0])), draw(st.integers(1, shape[1] - at[1])))
        piece = box(shape, at, sizes, turned=draw(st.booleans()))
        values = [0] * piece.numel
        for index in elements(sizes):
            values[piece.dest.address(index)] = piece.source.address(index)
        for wrong in draw(st.lists(st.integers(0, max(0, piece.numel - 1)), max_size=2)):
            if piece.numel:
                values[wrong] += 1000
        ranks[rank] = RankShard(sizes, (piece,))
        stored[rank] = struct.pack(f"<{len(values)}H", *values)
    return ShardMap(name="w", logical_shape=shape, ranks=ranks), stored


def elements(sizes: tuple[int, int]) -> list[tuple[int, int]]:
    return [(row, column) for row in range(sizes[0]) for column in range(sizes[1])]


def walked(shard_map: ShardMap, stored: Mapping[int, bytes]) -> list[int]:
    """The parameter addresses whose copies are not all equal, by a walk of every element."""
    copies: dict[int, set[bytes]] = defaultdict(set)
    for rank, _, piece in shard_map.pieces():
        for index in elements(piece.shape):  # type: ignore[arg-type]
            at = piece.dest.address(index) * ITEM
            copies[piece.source.address(index)].add(stored[rank][at : at + ITEM])
    return sorted(address for address, found in copies.items() if len(found) > 1)


def drift(shard_map: ShardMap, stored: Mapping[int, bytes]):  # type: ignore[no-untyped-def]
    def read_bits(rank: int, first: int, number: int) -> bytes:
        found = stored[rank][first * ITEM : (first + number) * ITEM]
        assert len(found) == number * ITEM
        return found

    return replica_drift(shard_map, read_bits, ITEM)[0]


@given(held())
def test_the_sweep_finds_what_a_walk_finds(case: tuple[ShardMap, dict[int, bytes]]) -> None:
    shard_map, stored = case
    wrong, fault = walked(shard_map, stored), drift(shard_map, stored)
    if not wrong:
        assert fault is None
        return
    assert fault is not None
    assert (fault.code, fault.address, fault.others) == ("SM404", wrong[0], tuple(wrong[:4]))
    assert (fault.count.number, fault.count.exact) == (len(wrong), True)
    for visit, bits in zip(fault.visits, fault.values["patterns"], strict=True):
        piece = shard_map.ranks[visit.rank].pieces[visit.piece]
        assert piece.source.address(visit.index) == wrong[0]
        at = piece.dest.address(visit.index) * ITEM
        assert int(bits, 16) == int.from_bytes(stored[visit.rank][at : at + ITEM], "little")
    assert len({visit.rank for visit in fault.visits}) == 2


@given(st.lists(st.integers(0, 4), max_size=4).map(tuple), st.booleans())
@example((3, 1, 4), False)
@example((), True)
def test_a_row_major_piece_is_one_run(sizes: tuple[int, ...], doubled: bool) -> None:
    steps = row_major(sizes)
    dest = StridedView(0, sizes, tuple(2 * step for step in steps) if doubled else steps)
    piece = Piece(StridedView(0, sizes, steps), dest, (0,))
    shard_map = ShardMap(name="w", logical_shape=sizes, ranks={0: RankShard(sizes, (piece,))})
    several = doubled and any(size > 1 for size in sizes)
    assert run_count(shard_map) == (0 if piece.is_empty else piece.numel if several else 1)


REPLICATED = {
    "logical_shape": [3],
    "ranks": {
        str(rank): {
            "shard_shape": [3],
            "pieces": [{"shape": [3], "source": [0, [1]], "dest": [0, [1]], "locations": [0, 1]}],
        }
        for rank in range(2)
    },
}


def stored(values: bytes, shape: list[int] | None = None, dtype: str = "F32", name: str = "w") -> bytes:
    entry = {"dtype": dtype, "shape": [3] if shape is None else shape, "data_offsets": [0, len(values)]}
    return framed({name: entry}, values)


SAME = struct.pack("<3f", 1.0, float("nan"), -0.0)
ZERO = struct.pack("<3f", 1.0, float("nan"), 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "map.json").write_text(json.dumps(REPLICATED))
    for rank in range(2):
        (tmp_path / f"rank{rank}.safetensors").write_bytes(stored(SAME))
    return tmp_path


def test_equal_bits_are_equal(folder: Path) -> None:
    found = said(folder, values=True)
    assert (found.verdict, found.checks) == ("proved", {"replica runs": 1})
    assert not any("replicas" in line for line in found.unchecked)


def test_bits_are_shown_and_zeros_have_signs(folder: Path) -> None:
    (folder / "rank1.safetensors").write_bytes(stored(ZERO))
    found = said(folder, values=True)
    assert found.codes == ("SM404",)
    assert found.sentences == ("parameter element [2] is 0x80000000 on rank 0 and 0x00000000 on rank 1",)


def test_without_values_nothing_is_said_of_replicas(folder: Path) -> None:
    (folder / "rank1.safetensors").write_bytes(stored(ZERO))
    found = said(folder)
    assert found.verdict == "proved"
    assert any("whether replicas are equal is open" in line for line in found.unchecked)


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (None, "CK101"),
        (b"broken", "SM001"),
        (stored(SAME, name="v"), "CK111"),
        (stored(SAME[:8], [2]), "SM204"),
        (stored(SAME, [3, 1]), "SM507"),
        (stored(SAME, dtype="I32"), "CK114"),
        (stored(SAME, dtype="F64"), "CK113"),
        (stored(SAME)[:-1], "CK102"),
        (stored(SAME) + b"0", "CK107"),
    ],
)
def test_a_file_that_is_not_the_shard_of_its_rank(folder: Path, second: bytes | None, code: str) -> None:
    if second is None:
        (folder / "rank1.safetensors").unlink()
    else:
        (folder / "rank1.safetensors").write_bytes(second)
    found = said(folder, values=True)
    assert found.verdict in ("refuted", "unreadable")
    assert code in found.codes, found.sentences


@pytest.mark.parametrize("limits", [Limits(replica_runs=1)])
def test_what_costs_too_much_is_left_open(folder: Path, limits: Limits) -> None:
    (folder / "rank1.safetensors").write_bytes(stored(ZERO))
    found = said(folder, values=True, limits=limits)
    assert found.verdict == "proved"
    assert any("over the limit of 1" in line for line in found.unchecked)


def test_a_wrong_map_is_refuted_and_no_value_is_read(folder: Path) -> None:
    wrong = json.loads(json.dumps(REPLICATED))
    wrong["ranks"]["1"]["pieces"][0]["source"][0] = 2**40
    (folder / "map.json").write_text(json.dumps(wrong))
    found = said(folder, values=True)
    assert found.codes[0] == "SM102"
    assert any("the map is wrong" in line for line in found.unchecked)


def test_no_mutant_crashes_the_reader(folder: Path) -> None:
    original = identity(read(folder, request=Request(values=True)))
    seen = set()
    for name in ("map.json", "rank1.safetensors"):
        sound = (folder / name).read_bytes()
        for mutant in mutants(sound, seed=13, count=150):
            (folder / name).write_bytes(mutant)
            seen.add(outcome(folder, "map+safetensors", original))
        (folder / name).write_bytes(sound)
    assert seen >= {"refused", "refuted"}
