"""DTensors in per-rank files: one place damaged is one finding, in a set of files that torch wrote."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard

from tests.formats.audited import replay_entry, said
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, outcome
from tests.formats.torch_files.archives import pickle_mutants
from tests.oracle.dtensor_files import elements, write
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import FormatError, Request, read
from verifier.formats.reading.limits import Limits

KIND = "torch-dtensor"
ENTRIES = [entry for entry in read_manifest(SAMPLES / "manifest.json") if KIND[6:] in str(entry.path)]
NAMES = ("w", "g", "s")

Tensors = dict[str, Any]
Damage = Callable[[Path], object]


def tensors() -> Tensors:
    """Rows, blocks and strided rows over 2 x 2 ranks, and a plain tensor."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))

    def cut(shape: tuple[int, ...], *placements: Any) -> torch.Tensor:
        return distribute_tensor(elements(shape), mesh, placements, src_data_rank=None)

    return {
        "w": cut((5, 6), Shard(0), Replicate()),
        "g": cut((6, 4), Shard(0), Shard(1)),
        "s": cut((8, 3), _StridedShard(0, split_factor=2), Shard(0)),
        "norm": torch.ones(6),
    }


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dtensor")
    write(folder, 4, tensors)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy to damage, with a name that findings can show."""
    return shutil.copytree(saved, tmp_path / "ckpt")


def edit(folder: Path, rank: int, change: Callable[[Tensors], object]) -> None:
    path = folder / f"rank{rank}.pt"
    value = torch.load(path, weights_only=False)
    change(value)
    torch.save(value, path)


def on_all(change: Callable[[Tensors], object]) -> Damage:
    def damage(folder: Path) -> None:
        for rank in range(4):
            edit(folder, rank, change)

    return damage


def on_one(change: Callable[[Tensors], object], rank: int = 1) -> Damage:
    return lambda folder: edit(folder, rank, change)


def spec(name: str, **fields: object) -> Callable[[Tensors], object]:
    return lambda value: vars(value[name]._spec).update(fields)


def mesh(**fields: object) -> Callable[[Tensors], object]:
    return lambda value: vars(value["w"]._spec.mesh).update(fields)


def local(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Tensors], object]:
    return lambda value: setattr(value[name], "_local_tensor", change(value[name]._local_tensor).clone())


def shape(name: str, *new: int) -> Callable[[Tensors], object]:
    def change(value: Tensors) -> None:
        meta = value[name]._spec.tensor_meta
        value[name]._spec.tensor_meta = meta._replace(shape=torch.Size(new))

    return change


def stated_dtype(name: str, dtype: torch.dtype) -> Callable[[Tensors], object]:
    def change(value: Tensors) -> None:
        value[name]._spec.tensor_meta = value[name]._spec.tensor_meta._replace(dtype=dtype)

    return change


def swap(folder: Path, one: int, other: int) -> None:
    first, second = folder / f"rank{one}.pt", folder / f"rank{other}.pt"
    first.rename(folder / "aside")
    second.rename(first)
    (folder / "aside").rename(second)


def copied(folder: Path) -> None:
    shutil.copy(folder / "rank1.pt", folder / "rank3.pt")


def two_missing(folder: Path) -> None:
    for rank in (0, 3):
        (folder / f"rank{rank}.pt").unlink()


def cut_short(folder: Path) -> None:
    (folder / "rank1.pt").write_bytes((folder / "rank1.pt").read_bytes()[:700])


BIG = 10**6
REVERSED = spec("g", shard_order=((1, (1,)),))

DAMAGES: dict[str, tuple[Damage, str, str]] = {
    "a file is missing": (
        lambda f: (f / "rank2.pt").unlink(),
        "CK101",
        "rank2.pt is missing: the number of ranks in the device mesh is 4",
    ),
    "two files are missing": (
        two_missing,
        "CK101",
        "rank0.pt is missing: the number of ranks in the device mesh is 4 (2 are missing in all)",
    ),
    "a file was copied": (
        copied,
        "CK114",
        "rank3.pt: the file was written by rank 1, and so was rank1.pt",
    ),
    "files were exchanged": (
        lambda f: swap(f, 1, 2),
        "CK114",
        "rank1.pt: the file was written by rank 2, its name says rank 1 (the first of 2 places)",
    ),
    "placements differ": (
        on_one(spec("w", placements=(Shard(1), Replicate()))),
        "CK114",
        'rank1.pt: the placements of "w" are [Shard(1), Replicate()], rank0.pt says [Shard(0), Replicate()]',
    ),
    "a split factor differs": (
        on_one(spec("s", placements=(_StridedShard(0, split_factor=1), Shard(0)))),
        "CK114",
        'rank1.pt: the placements of "s" are [_StridedShard(0, 1), Shard(0)], rank0.pt says '
        "[_StridedShard(0, 2), Shard(0)]",
    ),
    "the whole shape differs": (
        on_one(shape("w", 6, 6)),
        "CK114",
        'rank1.pt: the whole shape of "w" is (6, 6), rank0.pt says (5, 6)',
    ),
    "the order differs": (
        on_one(spec("g", shard_order=((1, (1,)), (0, (0,))))),
        "CK114",
        'rank1.pt: the shard order of "g" is ((1, (1,)), (0, (0,))), rank0.pt says ((0, (0,)), (1, (1,)))',
    ),
    "the ranks of the mesh differ": (
        on_one(mesh(_flatten_rank_map=(0, 1, 3, 2))),
        "CK114",
        'rank1.pt: the ranks of the mesh of "w" are [0, 1, 3, 2], rank0.pt says [0, 1, 2, 3]',
    ),
    "the dtype differs": (
        on_one(local("w", torch.Tensor.float)),
        "CK114",
        'rank1.pt: the dtype of "w" is float32, rank0.pt says int64',
    ),
    "the dtype of the whole differs": (
        on_one(stated_dtype("w", torch.float16)),
        "CK114",
        'rank1.pt: the dtype of the whole of "w" is float16, rank0.pt says int64',
    ),
    "a plain tensor was cast": (
        on_one(lambda value: value.update(norm=torch.ones(6, dtype=torch.float64))),
        "CK114",
        'rank1.pt: the plain tensor "norm" is float64, in rank0.pt it is float32',
    ),
    "a local tensor is short": (
        on_one(local("w", lambda t: t[:-1])),
        "SM204",
        "rank 1: the local tensor in rank1.pt states [2, 6], the map [3, 6]",
    ),
    "a local tensor is transposed": (
        on_one(local("g", torch.t)),
        "SM507",
        "the local tensor in rank1.pt states [2, 3], the map [3, 2]",
    ),
    "a tensor is missing": (
        on_one(lambda value: value.pop("g")),
        "CK114",
        'rank1.pt: "g" is not there, rank0.pt has it',
    ),
    "a tensor is added": (
        on_one(lambda value: value.update(extra=torch.ones(2))),
        "CK114",
        'rank1.pt: "extra" is there, rank0.pt has none',
    ),
    "a DTensor was gathered": (
        on_one(lambda value: value.update(w=elements((5, 6)))),
        "CK114",
        'rank1.pt: "w" is a plain tensor, in rank0.pt it is a DTensor',
    ),
    "a plain tensor was concatenated": (
        on_one(lambda value: value.update(norm=torch.ones(24))),
        "CK114",
        'rank1.pt: the plain tensor "norm" has shape (24,), in rank0.pt it has (6,)',
    ),
    "cut along no dimension of it": (
        on_all(spec("w", placements=(Shard(2), Replicate()))),
        "CK115",
        'rank0.pt: the sharding of "w" is cut along dimension 2, its shape is (5, 6)',
    ),
    "placements for another mesh": (
        on_all(spec("w", placements=(Shard(0),))),
        "CK115",
        'rank0.pt: the sharding of "w" has 1 placements, its mesh has 2 dimensions',
    ),
    "an order that leaves out a cut": (
        on_all(REVERSED),
        "CK115",
        'rank0.pt: the sharding of "g" has a shard order of other cuts than its placements, the order '
        "lists 1, the placements make 2",
    ),
    "an order beside a strided cut": (
        on_all(spec("s", shard_order=((0, (0, 1)),))),
        "CK115",
        'rank0.pt: the sharding of "s" has a shard order beside a _StridedShard, its factor is an order '
        "already",
    ),
    "a split factor beyond reason": (
        on_all(spec("s", placements=(_StridedShard(0, split_factor=BIG), Shard(0)))),
        "CK115",
        'rank0.pt: the sharding of "s" has the split factor 1000000, at most 524288 fits',
    ),
}  # fmt: skip


REFUSED: dict[str, tuple[Damage, str]] = {
    "a file is cut": (cut_short, "SM001"),
    "a rank twice": (on_one(mesh(_flatten_rank_map=(0, 1, 1, 2))), "SM002"),
    "a writer that is not in it": (on_one(mesh(_rank=9)), "SM002"),
    "no rank map": (on_one(mesh(_flatten_rank_map=None)), "SM002"),
    "a rank map that is too short": (on_one(mesh(_flatten_rank_map=(0, 1, 2))), "SM002"),
    "no shape": (on_one(spec("w", tensor_meta=None)), "SM002"),
    "no placements": (on_one(spec("w", placements=3)), "SM002"),
    "a placement that is none": (on_one(spec("w", placements=(0, 0))), "SM002"),
    "an order that is none": (on_one(spec("w", shard_order=((0,),))), "SM002"),
    "a negative factor": (
        on_one(spec("s", placements=(_StridedShard(0, split_factor=-2), Shard(0)))),
        "SM002",
    ),
}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path.name)
def test_recorded_files_have_their_verdict(entry: Any) -> None:
    assert replay_entry(entry, Settings()).agrees


def test_every_recorded_set_is_replayed() -> None:
    assert len(ENTRIES) == 6


def test_what_torch_wrote_is_proved(folder: Path) -> None:
    report = said(folder)
    assert (report.verdict, report.codes) == ("proved", ())
    assert report.proved == (*NAMES, str(folder))
    assert report.checks == {"rank files": 4, "replicated plain tensors": 1}
    assert report.unchecked == (
        "the values of tensors, so whether replicas are equal: no tensor data is read",
    )


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damage_is_one_finding_in_words(name: str, folder: Path) -> None:
    damage, code, sentence = DAMAGES[name]
    damage(folder)
    report = said(folder)
    assert (report.verdict, report.codes, report.sentences) == ("refuted", (code,), (sentence,))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused_and_hides_nothing_else(name: str, folder: Path) -> None:
    damage, code = REFUSED[name]
    damage(folder)
    report = said(folder)
    assert report.verdict == "unreadable"
    assert code in report.codes
    assert set(NAMES) <= set(report.proved)


def test_one_file_alone_is_held_against_its_own_layout(folder: Path) -> None:
    report = said(folder / "rank2.pt")
    assert report.verdict == "proved"
    assert "the files of other ranks: one file was named, not its folder" in report.unchecked
    edit(folder, 2, local("g", lambda t: t[:, :1]))
    assert said(folder / "rank2.pt").codes == ("SM204",)


def test_summands_have_no_map_and_are_said_to_have_none(folder: Path) -> None:
    on_all(spec("w", placements=(Partial(), Replicate())))(folder)
    report = said(folder)
    assert report.verdict == "proved"
    assert report.proved == ("g", "s", str(folder))
    assert 'partial tensors, which hold summands and no elements: "w"' in report.unchecked


def test_a_dtype_that_all_ranks_state_and_none_holds_is_said(folder: Path) -> None:
    on_all(stated_dtype("w", torch.float16))(folder)
    report = said(folder)
    assert report.verdict == "proved"
    assert 'the dtype of tensors that state one and hold another: "w"' in report.unchecked


def pipeline() -> Tensors:
    """Two stages of two ranks: each has layers of its own, and a norm of its own under a shared name."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("pp", "dp"))
    stage = mesh.get_local_rank("pp")
    layer = distribute_tensor(elements((4, 4)), mesh["dp"], [Shard(0)], src_data_rank=None)
    head = distribute_tensor(elements((4, 2 + stage)), mesh["dp"], [Shard(0)], src_data_rank=None)
    return {f"layer{stage}": layer, "head": head, "norm": torch.ones(2 + stage)}


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    folder = tmp_path / "staged"
    folder.mkdir()
    write(folder, 4, pipeline)
    return folder


def test_stages_of_a_pipeline_have_tensors_of_their_own(staged: Path) -> None:
    report = said(staged)
    assert (report.verdict, report.sentences) == ("proved", ())
    assert report.proved == ("layer0", "head", "layer1", "head", str(staged))
    assert any(note.startswith("whether ranks that share no mesh") for note in report.unchecked)


def test_ranks_of_one_stage_agree(staged: Path) -> None:
    edit(staged, 3, lambda value: value.pop("layer1"))
    assert said(staged).sentences == ('rank3.pt: "layer1" is not there, rank2.pt has it',)


def test_copies_of_a_mesh_hold_the_same_tensors(tmp_path: Path) -> None:
    """Tensor-parallel ranks in two data-parallel copies, which no mesh of a tensor joins."""

    def copies() -> Tensors:
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        return {"w": distribute_tensor(elements((4, 4)), mesh["tp"], [Shard(0)], src_data_rank=None)}

    write(tmp_path, 4, copies)
    assert said(tmp_path).proved == ("w", str(tmp_path))
    edit(tmp_path, 3, spec("w", placements=(Shard(1),)))
    assert said(tmp_path).codes == ("CK114",)


def test_copies_of_an_old_mesh_state_no_ranks_in_common(tmp_path: Path) -> None:
    """Before 2.9 the mesh of a part of the ranks said nothing of the others."""

    def copies() -> Tensors:
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        value = {"w": distribute_tensor(elements((4, 4)), mesh["tp"], [Shard(0)], src_data_rank=None)}
        fields = vars(value["w"]._spec.mesh)
        rank = fields.pop("_rank")
        for field in ("_layout", "_flatten_rank_map", "_rank_map", "_flatten_mapping"):
            fields.pop(field, None)
        first = rank - rank % 2
        fields.update(mesh=torch.tensor([first, first + 1]), _coordinate_on_dim=[rank % 2])
        return value

    write(tmp_path, 4, copies)
    assert (said(tmp_path).sentences, said(tmp_path).verdict) == ((), "proved")


def test_sets_of_files_in_one_folder_are_read_apart(folder: Path) -> None:
    for rank in range(4):
        (folder / f"rank{rank}.pt").rename(folder / f"model_world_size_4_rank_{rank}.pt")
        moments = {
            "state": {
                "w": {
                    "exp_avg": torch.load(folder / f"model_world_size_4_rank_{rank}.pt", weights_only=False)[
                        "w"
                    ]
                }
            }
        }
        torch.save(moments, folder / f"optim_world_size_4_rank_{rank}.pt")
    report = said(folder)
    assert report.proved == (*NAMES, "state.w.exp_avg", str(folder))
    (folder / "optim_world_size_4_rank_1.pt").unlink()
    assert said(folder).sentences == (
        "optim_world_size_4_rank_1.pt is missing: the number of ranks in the device mesh is 4",
    )


def test_a_file_that_cannot_be_opened_hides_no_other(folder: Path) -> None:
    (folder / "rank1.pt").unlink()
    (folder / "rank1.pt").mkdir()
    assert said(folder).codes == ("CK101",)


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as refused:
        read(tmp_path, request=Request(input_format=KIND))
    assert refused.value.code == "SM001"
    assert "no file here is named after a rank" in refused.value.message


def test_more_files_than_the_limit_are_refused(folder: Path) -> None:
    with pytest.raises(FormatError) as refused:
        read(folder, limits=Limits(files=3))
    assert refused.value.code == "SM006"


def test_a_mesh_of_old_files_carries_its_ranks_as_a_tensor(folder: Path) -> None:
    """Before 2.9 there was no layout: the ranks are values of a small tensor, the writer a coordinate."""

    def old(value: Tensors) -> None:
        fields = vars(value["w"]._spec.mesh)
        rank = fields.pop("_rank")
        for field in ("_layout", "_flatten_rank_map", "_rank_map", "_flatten_mapping"):
            fields.pop(field)
        fields["mesh"] = torch.tensor([[0, 1], [2, 3]], dtype=torch.int32)
        fields["_coordinate_on_dim"] = [rank // 2, rank % 2]

    good = read(folder)
    on_all(old)(folder)
    assert identity(read(folder)) == identity(good)
    shutil.copy(folder / "rank1.pt", folder / "rank3.pt")
    assert said(folder).codes == ("CK114",)


def test_mutants_are_refused_or_judged(folder: Path) -> None:
    original = identity(read(folder))
    path = folder / "rank1.pt"
    seen = set()
    for mutant in pickle_mutants(path.read_bytes(), seed=9, count=150):
        path.write_bytes(mutant)
        seen.add(outcome(folder, KIND, original))
    assert {"refuted", "equal"} <= seen


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda value: value.update({"x" * 5000: torch.ones(1)}), "SM006"),
        (lambda value: value.update({"a\nb": torch.ones(1)}), "SM002"),
        (lambda value: value.update({"a.b": torch.ones(1), "a": {"b": torch.ones(1)}}), "SM003"),
    ],
)
def test_names_that_cannot_stand_for_one_tensor_are_refused(
    change: Callable[[Tensors], object], code: str, folder: Path
) -> None:
    on_all(change)(folder)
    report = said(folder)
    assert (report.verdict, set(report.codes)) == ("unreadable", {code})
    assert set(NAMES) <= set(report.proved)
