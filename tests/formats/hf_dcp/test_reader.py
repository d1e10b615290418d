from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.audited import replay_entry, said
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, mutants, outcome
from tests.formats.safetensors.samples import (
    FULL,
    SHARDS,
    a_file,
    framed,
    shard_bytes,
    shard_file_name,
    write_model,
    write_shards,
)
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import Limits, Request, read

ENTRIES = [
    entry
    for entry in read_manifest(SAMPLES / "manifest.json")
    if entry.path.relative_to(SAMPLES).parts[0] == "hf_dcp"
]
Damage = Callable[[Path], object]
ONE, TWO, THREE = SHARDS


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path.relative_to(SAMPLES).as_posix())
def test_every_sample_has_its_verdict_and_cause(entry) -> None:  # type: ignore[no-untyped-def]
    replayed = replay_entry(entry, Settings(repair=False))
    assert replayed.agrees, replayed.got


def test_the_samples_are_there() -> None:
    assert len(ENTRIES) == 9


def test_a_sound_checkpoint_is_proved_and_its_shapes_are_said_to_be_inferred(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    found = said(folder)
    assert (found.verdict, found.warnings) == ("proved", ("CK201",))
    assert {"w", "c", "n"} <= set(found.proved)
    assert found.checks == {"part sizes": 7}
    assert any("lacks its last shard files" in line for line in found.unchecked)
    assert {
        subject.boxes.name: subject.boxes.logical_shape for subject in read(folder).boxes
    }.items() >= FULL.items()


def test_stated_shapes_leave_nothing_inferred(tmp_path: Path) -> None:
    found = said(write_shards(tmp_path / "shards"), shapes=FULL)
    assert (found.verdict, found.warnings) == ("proved", ())
    assert not any("lacks its last shard files" in line for line in found.unchecked)


def part_of(name: str, file: str, at: Sequence[int], sizes: Sequence[int]) -> Damage:
    """One part of a file begins elsewhere, or has other sizes."""
    parts = {**SHARDS[file], name: (SHARDS[file][name][0], at, sizes)}
    return lambda folder: (folder / file).write_bytes(shard_bytes(parts))


def written(name: str, data: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(data)


def informed(file: str, info: object, version: str = "1.0") -> bytes:
    """The bytes of a file whose sharding info is another one."""
    tensors = {name: (dtype, sizes) for name, (dtype, _, sizes) in SHARDS[file].items()}
    text = info if isinstance(info, str) else json.dumps(info)
    return a_file(tensors, {"DCP_SHARDING_INFO": text, "DCP_VERSION": version})


def offsets_of(file: str) -> dict[str, dict[str, list[int]]]:
    return {name: {"saved_offsets": list(at)} for name, (_, at, _) in SHARDS[file].items()}


def stripped(folder: Path) -> None:
    for file, parts in SHARDS.items():
        (folder / file).write_bytes(
            a_file({name: (dtype, sizes) for name, (dtype, _, sizes) in parts.items()})
        )


def without(file: str, name: str) -> dict[str, dict[str, list[int]]]:
    return {key: value for key, value in offsets_of(file).items() if key != name}


GHOST = {**offsets_of(TWO), "ghost": {"saved_offsets": [0]}}
WIDER = {
    name: ("F64" if name == "w" else dtype, at, sizes) for name, (dtype, at, sizes) in SHARDS[TWO].items()
}
FLAT = {**SHARDS[TWO], "w": ("F32", (12,), (12,))}

DAMAGES: dict[str, tuple[Damage, str]] = {
    "a file in the middle is gone": (lambda folder: (folder / TWO).unlink(), "SM301"),
    "a part begins later": (part_of("w", TWO, (3, 0), (2, 6)), "SM301"),
    "a part begins earlier": (part_of("w", TWO, (1, 0), (2, 6)), "SM403"),
    "a part begins before the tensor": (part_of("w", ONE, (-1, 0), (2, 6)), "CK108"),
    "a part is smaller": (part_of("w", TWO, (2, 0), (1, 6)), "SM301"),
    "a part is larger": (part_of("w", ONE, (0, 0), (3, 6)), "SM403"),
    "a part is transposed": (part_of("c", ONE, (0, 0), (3, 4)), "SM403"),
    "a part has fewer dimensions": (written(TWO, shard_bytes(FLAT)), "CK114"),
    "a part has another type": (written(TWO, shard_bytes(WIDER)), "CK114"),
    "a file stands twice": (written(shard_file_name(4), shard_bytes(SHARDS[TWO])), "SM403"),
    "a part has no place": (written(TWO, informed(TWO, without(TWO, "w"))), "CK105"),
    "a place has no part": (written(TWO, informed(TWO, GHOST)), "CK103"),
    "no file says where parts begin": (stripped, "CK106"),
    "places are no JSON": (written(TWO, informed(TWO, "{")), "SM001"),
    "a place stands twice": (written(TWO, informed(TWO, '{"w": {}, "w": {}}')), "SM003"),
    "a place has no offsets": (written(TWO, informed(TWO, {**offsets_of(TWO), "w": {}})), "SM002"),
    "a place has too few numbers": (
        written(TWO, informed(TWO, {**offsets_of(TWO), "w": {"saved_offsets": [2]}})),
        "SM002",
    ),
    "a place is no integer": (
        written(TWO, informed(TWO, {**offsets_of(TWO), "w": {"saved_offsets": [2.0, 0]}})),
        "SM005",
    ),
    "a version nobody knows": (written(TWO, informed(TWO, offsets_of(TWO), "2.0")), "SM004"),
    "file names count other model files": (
        lambda folder: (folder / TWO).rename(folder / shard_file_name(2, 1, 2)),
        "CK114",
    ),
    "a file is cut": (written(TWO, shard_bytes(SHARDS[TWO])[:-1]), "CK102"),
    "a file has bytes left": (written(TWO, shard_bytes(SHARDS[TWO]) + b"0"), "CK107"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_checkpoint_damaged_in_one_place_is_found(damage: str, tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    change, code = DAMAGES[damage]
    change(folder)
    found = said(folder)
    assert found.verdict in ("refuted", "unreadable")
    assert code in found.codes, found.sentences
    assert all(str(tmp_path) not in sentence for sentence in found.sentences)


@pytest.mark.parametrize("name", FULL)
def test_a_tensor_of_which_a_part_cannot_be_placed_is_not_proved(name: str, tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    (folder / TWO).write_bytes(informed(TWO, {**offsets_of(TWO), name: {}}))
    found = said(folder)
    assert name not in [proved for proved in found.proved if not proved.startswith("bytes of")]
    assert any(f'"{name}"' in line for line in found.unchecked)


def test_without_full_shapes_the_last_file_is_not_missed(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    (folder / THREE).unlink()
    assert said(folder).verdict == "proved"
    found = said(folder, shapes=FULL)
    assert (found.verdict, set(found.codes)) == ("refuted", {"SM301"})


def test_a_full_shape_in_the_file_is_used(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    for file, parts in SHARDS.items():
        shapes = {name: {"global_shape": list(FULL[name])} for name in parts}
        (folder / file).write_bytes(shard_bytes(parts, **shapes))
    assert (said(folder).verdict, said(folder).warnings) == ("proved", ())
    (folder / THREE).unlink()
    assert said(folder).codes == ("SM301", "SM301")
    assert "SM507" in said(folder, shapes={**FULL, "n": (7,)}).codes


def test_ranks_that_state_other_full_shapes_disagree(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    (folder / ONE).write_bytes(shard_bytes(SHARDS[ONE], w={"global_shape": [5, 6]}))
    (folder / TWO).write_bytes(shard_bytes(SHARDS[TWO], w={"global_shape": [6, 6]}))
    assert "CK114" in said(folder).codes


def test_consolidated_files_state_the_shapes_of_the_shards_below_them(tmp_path: Path) -> None:
    whole = {
        "model-00001-of-00001.safetensors": {"w": ("F32", (5, 6)), "c": ("F32", (4, 7)), "n": ("U8", (6,))}
    }
    folder = write_model(tmp_path / "model", whole)
    write_shards(folder / "sharded")
    assert (said(folder).verdict, said(folder).warnings) == ("proved", ())
    (folder / "sharded" / THREE).unlink()
    assert set(said(folder).codes) == {"SM301"}


GRID = bytes(range(36))
QUARTERS = [((top, left), (3, 3)) for top in (0, 3) for left in (0, 3)]


def consolidated(folder: Path, whole: bytes, dtype: str = "U8") -> Path:
    """A matrix of 6 by 6 in four parts that hold GRID, and as a whole."""
    entry = {"w": {"dtype": dtype, "shape": [6, 6], "data_offsets": [0, len(whole)]}}
    (folder / "sharded").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(framed(entry, whole))
    for number, (at, sizes) in enumerate(QUARTERS):
        rows = [GRID[6 * row + at[1] : 6 * row + at[1] + 3] for row in range(at[0], at[0] + 3)]
        sound = shard_bytes({"w": ("U8", at, sizes)})
        (folder / "sharded" / shard_file_name(number + 1)).write_bytes(sound[:-9] + b"".join(rows))
    return folder


@pytest.mark.parametrize("wrong", [(), (0,), (35,), (8, 9, 21)])
def test_the_whole_is_compared_with_its_parts(wrong: tuple[int, ...], tmp_path: Path) -> None:
    whole = bytearray(GRID)
    for address in wrong:
        whole[address] ^= 0x80
    found = said(consolidated(tmp_path / "model", bytes(whole)), values=True)
    assert (found.verdict, found.codes) == (("refuted", ("SM404",)) if wrong else ("proved", ()))
    assert not any(line.startswith("values") for line in found.unchecked)
    if wrong:
        row, column = divmod(wrong[0], 6)
        assert f"parameter element [{row}, {column}] is 0x" in found.sentences[0]
    else:
        assert found.checks["consolidated runs"] == 12


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    other = consolidated(tmp_path / "type", GRID, "I8")
    assert any("its types differ" in line for line in said(other, values=True).unchecked)
    cut_short = consolidated(tmp_path / "cut", GRID)
    (cut_short / "model.safetensors").write_bytes((cut_short / "model.safetensors").read_bytes()[:-1])
    found = said(cut_short, values=True)
    assert found.codes == ("CK102",)
    assert any("not all of its bytes are there" in line for line in found.unchecked)
    few = said(consolidated(tmp_path / "few", GRID), values=True, limits=Limits(replica_runs=12))
    assert any("over the limit of 12" in line for line in few.unchecked)


def test_every_model_file_has_a_shard(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / shard_file_name(1, 1, 2)).write_bytes(shard_bytes({"a": ("U8", (0,), (4,))}))
    assert said(folder).codes == ("CK101",)
    (folder / shard_file_name(1, 2, 2)).write_bytes(shard_bytes({"b": ("U8", (0,), (4,))}))
    assert said(folder).verdict == "proved"


Parts = Mapping[str, tuple[str, Sequence[int], Sequence[int]]]


@given(data=st.data())
@settings(max_examples=40)
def test_a_grid_of_parts_is_proved_and_any_lost_part_is_missed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("grid")
    cuts = [sorted(data.draw(st.sets(st.integers(1, 5), max_size=2))) for _ in range(2)]
    edges = [[0, *inner, 6] for inner in cuts]
    boxes = [
        ((top, left), (bottom - top, right - left))
        for top, bottom in zip(edges[0], edges[0][1:], strict=False)
        for left, right in zip(edges[1], edges[1][1:], strict=False)
    ]
    lost = data.draw(st.integers(-1, len(boxes) - 1))
    for number, (at, sizes) in enumerate(boxes):
        if number != lost:
            (folder / shard_file_name(number + 1)).write_bytes(shard_bytes({"w": ("U8", at, sizes)}))
    if len(boxes) == 1 and lost == 0:
        (folder / shard_file_name(2)).write_bytes(shard_bytes({"other": ("U8", (0,), (1,))}))
    found = said(folder, shapes={"w": (6, 6)})
    assert found.verdict == ("proved" if lost < 0 else "refuted")


def test_no_mutant_crashes_the_reader(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    sound = (folder / TWO).read_bytes()
    original = identity(read(folder, request=Request(input_format="hf-dcp")))
    seen = set()
    for mutant in mutants(sound, seed=11, count=300):
        (folder / TWO).write_bytes(mutant)
        seen.add(outcome(folder, "hf-dcp", original))
    assert "refuted" in seen
