"""Expert layers of DeepSpeed: their maps against the descriptors beside them, and the files of experts."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.downstream.deepspeed_affine import autoep
from tests.formats.audited import said
from tests.formats.documents import archive
from tests.formats.mutating import identity, outcome
from tests.formats.torch_files.archives import pickle_mutants
from verifier.formats import read

HELD = [[0, 1, 4], [5, 2, 3]]
EXPERTS = 6
FILE = "mp_rank_00_model_states.pt"
WEIGHTS = {"w1": (4, 3), "w2": (3, 4), "w3": (4, 3)}

Layer = dict[str, Any]
States = dict[str, Any]
Damage = Callable[[Layer], object]


def layer(number: int = 0, held: list[list[int]] = HELD) -> Layer:
    """What the released package writes of one layer."""
    placement = autoep().make_autoep_placement_descriptor(EXPERTS, held)
    prefix = f"layers.{number}.mlp.experts"
    maps = {
        f"{prefix}.{name}": autoep().autoep_placement_to_affine_map(placement, (EXPERTS, *shape)).to_dict()
        for name, shape in WEIGHTS.items()
    }
    return copy.deepcopy(
        {
            "moe_layer_id": number,
            "num_experts": EXPERTS,
            "num_local_experts": 3,
            "ep_size": 2,
            "ep_rank": 0,
            "expert_key_prefix": prefix,
            "checkpoint_format": "per_expert_files",
            "expert_placement": placement,
            "affine_maps": {"version": 1, "params": maps},
        }
    )


def states(*layers: Layer) -> States:
    listed = list(layers)
    return {
        "module": {},
        "ds_autoep_layers": listed,
        "universal_checkpoint_info": {"ds_autoep_layers": copy.deepcopy(listed)},
    }


def write(folder: Path, *files: States, layers: int = 1) -> Path:
    """The files of tensor-parallel ranks, and an empty one for each expert."""
    folder.mkdir(exist_ok=True)
    for rank, value in enumerate(files):
        data = archive([("x/data.pkl", pickle.dumps(value, 2))])
        (folder / f"mp_rank_{rank:02d}_model_states.pt").write_bytes(data)
    for number in range(layers):
        for expert in range(EXPERTS):
            (folder / f"layer_{number}_expert_{expert}_mp_rank_00_model_states.pt").touch()
    return folder


@pytest.mark.parametrize(
    "held", [HELD, [[0, 1, 2], [3, 4, 5]], [[0, 1, 2, 3, 4, 5], [5, 0]], [[], [3, 1, 2, 0, 4, 5]]]
)
def test_what_the_package_writes_is_proved_with_its_witness(held: list[list[int]], tmp_path: Path) -> None:
    folder = write(tmp_path / "ckpt", states(layer(0, held), layer(1, held)), layers=2)
    report = said(folder)
    assert (report.verdict, report.codes) == ("proved", ())
    assert len(report.proved) == 2 * len(WEIGHTS)
    for subject in read(folder).subjects:
        assert [label for label, _ in subject.witnesses] == ["expert_placement"]
    assert "the tensors in the files of single experts: only that the files are there" in report.unchecked


def test_without_a_descriptor_experts_are_in_equal_runs(tmp_path: Path) -> None:
    old = layer(held=[[0, 1, 2], [3, 4, 5]])
    del old["expert_placement"]
    assert said(write(tmp_path / "ckpt", states(old))).verdict == "proved"
    exchanged = layer(held=[[3, 4, 5], [0, 1, 2]])
    del exchanged["expert_placement"]
    assert set(said(write(tmp_path / "bad", states(exchanged))).codes) == {"SM507"}


def weight(value: Layer, name: str = "w1") -> Layer:
    found: Layer = value["affine_maps"]["params"][f"layers.0.mlp.experts.{name}"]
    return found


def swap(value: Layer) -> None:
    """Two experts of rank 1 exchange their places: still a tiling."""
    first, second = weight(value)["ranks"][1]["pieces"][:2]
    first["shape"], second["shape"] = second["shape"], first["shape"]
    first["source"], second["source"] = second["source"], first["source"]
    second["dest"] = [first["dest"][0] + 24, second["dest"][1]]


DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    "experts exchanged in a map": (swap, {"SM507"}),
    "experts exchanged in the descriptor": (
        lambda v: v["expert_placement"]["ranks"][1].update(experts=[2, 5, 3]),
        {"SM507"},
    ),
    "an expert lost in the descriptor": (
        lambda v: v["expert_placement"]["ranks"][1].update(experts=[5, 2]),
        {"SM507"},
    ),
    "ranks exchanged in the descriptor": (
        lambda v: [one.update(rank=1 - one["rank"]) for one in v["expert_placement"]["ranks"]],
        {"SM507"},
    ),
    "a piece lost": (lambda v: weight(v)["ranks"][1]["pieces"].pop(), {"SM203", "SM301", "SM507"}),
    "a piece elsewhere": (
        lambda v: weight(v)["ranks"][0]["pieces"][0].update(source=[12, [12, 3, 1]]),
        {"SM301", "SM401", "SM403", "SM507"},
    ),
    "another number of experts": (lambda v: v.update(num_experts=8), {"SM507", "CK101"}),
    "maps of a later version": (lambda v: v["affine_maps"].update(version=2), {"SM004"}),
    "no maps": (lambda v: v.pop("affine_maps"), {"SM002"}),
    "a descriptor of a later version": (lambda v: v["expert_placement"].update(version=2), {"SM004"}),
    "a rank twice in the descriptor": (lambda v: v["expert_placement"]["ranks"][1].update(rank=0), {"SM002"}),
    "a number in text": (lambda v: v["expert_placement"]["ranks"][1].update(experts=["5", 2, 3]), {"SM005"}),
    "a negative expert": (lambda v: v["expert_placement"]["ranks"][1].update(experts=[-1, 2, 3]), {"SM002"}),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_layer_is_found(name: str, tmp_path: Path) -> None:
    damage, codes = DAMAGES[name]
    damaged = layer()
    damage(damaged)
    report = said(write(tmp_path / "ckpt", states(damaged)))
    assert report.verdict in ("refuted", "unreadable")
    assert set(report.codes) <= codes
    assert report.codes


def test_another_layer_is_not_hidden_by_a_damaged_one(tmp_path: Path) -> None:
    report = said(write(tmp_path / "ckpt", states({**layer(), "affine_maps": None}, layer(1)), layers=2))
    assert report.codes == ("SM002",)
    assert len(report.proved) == len(WEIGHTS)


def test_two_layers_of_one_number_are_found(tmp_path: Path) -> None:
    report = said(write(tmp_path / "ckpt", states(layer(0), {**layer(1), "moe_layer_id": 0})))
    assert report.codes == ("SM507",)
    assert "moe_layer_id of a second layer" in report.sentences[0]


def test_the_copy_beside_the_affine_map_and_the_other_files_say_the_same(tmp_path: Path) -> None:
    value = states(layer())
    value["universal_checkpoint_info"]["ds_autoep_layers"] = [layer(held=[[0, 1, 2], [3, 4, 5]])]
    report = said(write(tmp_path / "copy", value))
    assert report.codes == ("SM507",)
    assert "ds_autoep_layers beside the affine map" in report.sentences[0]
    other = layer()
    other["ep_rank"] = 1
    folder = write(tmp_path / "ranks", states(layer()), states(other))
    assert said(folder).verdict == "proved"
    swap(other)
    assert set(said(write(tmp_path / "other", states(layer()), states(other))).codes) == {"SM507"}


def test_the_file_of_an_expert_is_missing(tmp_path: Path) -> None:
    folder = write(tmp_path / "ckpt", states(layer()))
    (folder / "layer_0_expert_4_mp_rank_00_model_states.pt").unlink()
    report = said(folder)
    assert report.codes == ("CK101",)
    assert report.sentences[0].startswith("layer_0_expert_4_mp_rank_00_model_states.pt is missing")


def test_partitioned_experts_have_no_files(tmp_path: Path) -> None:
    value = states({**layer(), "checkpoint_format": "zero3_partitioned"})
    assert said(write(tmp_path / "ckpt", value, layers=0)).verdict == "proved"


def test_mutants_are_refused_or_judged(tmp_path: Path) -> None:
    folder = write(tmp_path / "ckpt", states(layer()))
    original = identity(read(folder))
    seen = set()
    for mutant in pickle_mutants((folder / FILE).read_bytes(), seed=8, count=200):
        (folder / FILE).write_bytes(mutant)
        seen.add(outcome(folder, "deepspeed", original))
    assert "equal" in seen
    assert seen & {"refused", "refuted"}
