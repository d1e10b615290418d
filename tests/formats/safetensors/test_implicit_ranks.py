"""Files that only a rank in their name tells apart: all ranks are there and hold tensors alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.audited import said
from tests.formats.mutating import mutants
from tests.formats.orbax.checkpoints import dump, edit
from tests.formats.safetensors.samples import Tensors, a_file, entries, framed
from verifier.formats import FormatError, Limits, Request, read

SHARD: Tensors = {"q": ("F32", (4, 6)), "norm": ("BF16", (6,))}
LAST: Tensors = {"q": ("F32", (3, 6)), "norm": ("BF16", (6,))}
Damage = Callable[[Path], object]


def put(name: str, tensors: Tensors) -> Damage:
    return lambda folder: (folder / name).write_bytes(a_file(tensors))


def linked_out(path: Path) -> None:
    path.unlink()
    path.symlink_to("/")


def gone(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


@pytest.fixture
def vllm(tmp_path: Path) -> Path:
    for rank, tensors in enumerate((SHARD, SHARD, LAST)):
        put(f"model-rank-{rank}-part-0.safetensors", tensors)(tmp_path)
        put(f"model-rank-{rank}-part-1.safetensors", {"head": ("F32", (2, 2))})(tmp_path)
    return tmp_path


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    dump(tmp_path / "config.json", {"mapping": {"world_size": 4, "tp_size": 2, "pp_size": 2}})
    for rank in range(4):
        put(f"rank{rank}.safetensors", {f"stage{rank // 2}.w": ("F32", (2, 3))})(tmp_path)
    return tmp_path


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    for rank in range(2):
        for stage in range(2):
            folder = tmp_path / f"mp_rank_{rank:02d}_{stage:03d}"
            folder.mkdir()
            (folder / "model_optim_rng.pt").write_bytes(b"?")
    return tmp_path


def test_what_holds_is_counted_and_what_is_not_known_is_said(vllm: Path) -> None:
    document = read(vllm)
    assert document.kind == "rank-files"
    assert document.checks == {"files of ranks": 9, "byte counts": 9, "tensors that ranks have alike": 6}
    assert document.subjects == ()
    assert not any(boxes.is_parameter for boxes in document.boxes)
    assert "which part of a tensor a rank holds" in document.unchecked[0]
    assert said(vllm).verdict == "proved"


VLLM: list[tuple[str, Damage, tuple[str, ...]]] = [
    ("part lost", gone("model-rank-1-part-0.safetensors"), ("CK101", "CK114")),
    ("part left over", put("model-rank-1-part-3.safetensors", {}), ("CK101",)),
    (
        "rank left over",
        put("model-rank-4-part-0.safetensors", {**SHARD, "head": ("F32", (2, 2))}),
        ("CK101",),
    ),
    ("rank of a huge number", put("model-rank-9999999-part-0.safetensors", SHARD), ("CK101", "CK114")),
    ("tensor lost", put("model-rank-1-part-1.safetensors", {}), ("CK114",)),
    ("tensor added", put("model-rank-1-part-1.safetensors", {"x": ("U8", (1,))}), ("CK114",)),
    ("tensor twice", put("model-rank-1-part-1.safetensors", {**SHARD, "head": ("F32", (2, 2))}), ("CK106",)),
    ("other type", put("model-rank-1-part-1.safetensors", {"head": ("F64", (2, 2))}), ("CK114",)),
    ("other shape", put("model-rank-1-part-1.safetensors", {"head": ("F32", (3, 3))}), ("CK114",)),
    ("other axes", put("model-rank-1-part-1.safetensors", {"head": ("F32", (2, 2, 1))}), ("CK114",)),
    (
        "cut short",
        lambda f: (f / "model-rank-1-part-1.safetensors").write_bytes(a_file({"head": ("F32", (2, 2))})[:-4]),
        ("CK102",),
    ),
    (
        "more bytes",
        lambda f: (f / "model-rank-1-part-1.safetensors").write_bytes(
            a_file({"head": ("F32", (2, 2))}) + b"x"
        ),
        ("CK107",),
    ),
    (
        "bytes of another count",
        lambda f: (f / "model-rank-1-part-1.safetensors").write_bytes(
            framed({"head": entries({"head": ("F32", (2, 3))})["head"] | {"shape": [2, 2]}}, bytes(24))
        ),
        ("CK113",),
    ),
    ("no header", lambda f: (f / "model-rank-1-part-1.safetensors").write_bytes(b"?"), ("SM001",)),
    (
        "a link to a folder",
        lambda f: linked_out(f / "model-rank-1-part-1.safetensors"),
        ("SM001",),
    ),
]


@pytest.mark.parametrize(("_", "damage", "codes"), VLLM, ids=[name for name, _, _ in VLLM])
def test_damage_to_sharded_state_is_found(_: str, damage: Damage, codes: tuple[str, ...], vllm: Path) -> None:
    damage(vllm)
    found = said(vllm)
    assert found.verdict in ("refuted", "unreadable")
    assert tuple(sorted(set(found.codes))) == codes


def test_shards_may_differ_in_one_dimension_and_no_more(vllm: Path) -> None:
    put("model-rank-1-part-0.safetensors", {"q": ("F32", (5, 7)), "norm": ("BF16", (6,))})(vllm)
    assert said(vllm).sentences == ('.: the tensor "q" has shape [4, 6] on rank 0, [5, 7] on rank 1',)


def test_stages_of_an_engine_are_compared_apart(engine: Path) -> None:
    assert said(engine).verdict == "proved"
    edit(engine / "config.json", lambda c: c["mapping"].pop("pp_size"))
    assert set(said(engine).codes) == {"CK114"}


ENGINE: list[tuple[str, Damage, tuple[str, ...]]] = [
    ("rank lost", gone("rank3.safetensors"), ("CK101",)),
    ("rank left over", put("rank4.safetensors", {}), ("CK112",)),
    (
        "no ranks",
        lambda f: edit(f / "config.json", lambda c: c["mapping"].update(world_size=0)),
        ("CK114", "SM002"),
    ),
    (
        "a float",
        lambda f: edit(f / "config.json", lambda c: c["mapping"].update(world_size=4.0)),
        ("CK114", "SM005"),
    ),
    ("other stage", put("rank3.safetensors", {"stage0.w": ("F32", (2, 3))}), ("CK114",)),
]


@pytest.mark.parametrize(("_", "damage", "codes"), ENGINE, ids=[name for name, _, _ in ENGINE])
def test_damage_to_an_engine_is_found(_: str, damage: Damage, codes: tuple[str, ...], engine: Path) -> None:
    damage(engine)
    assert tuple(sorted(set(said(engine).codes))) == codes


def test_without_a_mapping_the_highest_rank_cannot_be_missed(engine: Path) -> None:
    dump(engine / "config.json", {})
    for rank in (2, 3):
        gone(f"rank{rank}.safetensors")(engine)
    assert said(engine).verdict == "proved"
    assert any("highest ranks" in note for note in read(engine).unchecked)


def test_legacy_folders_are_counted_and_not_opened(legacy: Path) -> None:
    document = read(legacy)
    assert document.checks == {"folders of ranks": 4}
    assert any("names and shapes" in note for note in document.unchecked)
    (legacy / "mp_rank_01_000" / "model_optim_rng.pt").unlink()
    assert said(legacy).sentences == (
        ".: the file model_optim_rng.pt of mp_rank_01_000 is not there, other ranks have theirs",
    )
    (legacy / "mp_rank_01_000").rmdir()
    assert said(legacy).sentences == (".: the folder of the rank at [1, 0] is not there, 2 x 2 are named",)


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no file here is named after a rank"):
        read(tmp_path, request=Request(input_format="rank-files"))


def test_files_are_limited(vllm: Path) -> None:
    with pytest.raises(FormatError, match="over the limit of 5"):
        read(vllm, limits=Limits(files=5))


def test_mutants_are_judged_or_refused(vllm: Path) -> None:
    path = vllm / "model-rank-1-part-0.safetensors"
    answers = set()
    for mutant in mutants(path.read_bytes(), seed=5, count=100):
        path.write_bytes(mutant)
        answers.add(said(vllm).verdict)
    assert answers == {"proved", "refuted", "unreadable"}
