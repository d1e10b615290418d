from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.formats.documents import SAMPLES, archive, edited, rows_map, without
from verifier.formats import Document, read
from verifier.formats.deepspeed.model_states import first_difference, rank_in_name

KEY = "^layers\\.0\\.w$"
States = dict[str, Any]
MANIFEST = json.loads((SAMPLES / "manifest.json").read_text())


def states() -> States:
    """What one of two ranks saves."""
    return {
        "module": {},
        "param_shapes": [{"layers.0.w": (2, 2)}],
        "checkpoint_parallel_dimensions": {"pp_degree": 1, "tp_degree": 2},
        "universal_checkpoint_info": {
            "tp_replicated_parameter_patterns": [],
            "affine_map": {"version": 1, "params": {KEY: rows_map()}},
        },
    }


PARAMS = ("universal_checkpoint_info", "affine_map", "params")


def checkpoint(folder: Path, *files: States) -> Document:
    for rank, value in enumerate(files):
        save(folder / f"mp_rank_{rank:02d}_model_states.pt", value)
    return read(folder, display="ckpt")


def save(path: Path, value: object) -> None:
    path.write_bytes(archive([("x/data.pkl", pickle.dumps(value, 2))]))


def codes(document: Document) -> list[str]:
    return [fault.code for fault in document.faults] + [
        fault.code for subject in document.subjects for fault in subject.faults
    ]


def test_a_good_checkpoint_has_one_subject_with_its_witness(tmp_path: Path) -> None:
    document = checkpoint(tmp_path, states(), states())
    (subject,) = document.subjects
    assert (document.kind, document.file, subject.name) == ("deepspeed", "ckpt", "layers.0.w")
    assert subject.origin.file == "ckpt/mp_rank_00_model_states.pt"
    assert subject.origin.pointer == f"/universal_checkpoint_info/affine_map/params/{KEY}"
    ((label, witness),) = subject.witnesses
    assert "axis 0" in label
    assert witness.ranks[1].pieces[0].source == subject.shard_map.ranks[1].pieces[0].source
    assert (codes(document), document.refusals) == ([], ())


def test_files_that_carry_different_maps_disagree(tmp_path: Path) -> None:
    other = edited(states(), (*PARAMS, KEY, "ranks", "1", "pieces", 0, "source"), [5, [2, 1]])
    (fault,) = checkpoint(tmp_path, states(), other).subjects[0].faults
    assert fault.code == "SM507"
    assert fault.values["descriptor"] == "affine_map of ckpt/mp_rank_01_model_states.pt"
    assert fault.values["pointer"] == "/" + "/".join((*PARAMS, KEY, "ranks/1/pieces/0/source/0"))
    assert (fault.values["found"], fault.values["stated"]) == ("4", "5")


@pytest.mark.parametrize(
    "other",
    [
        without(states(), (*PARAMS, KEY)),
        edited(states(), (*PARAMS, "^b$"), rows_map()),
        edited(states(), (*PARAMS[:2], "version"), 2),
        edited(states(), (*PARAMS[:2], "version"), True),
        without(states(), PARAMS),
        without(states(), PARAMS[:2]),
        without(states(), PARAMS[:1]),
    ],
)
def test_files_with_other_sets_of_maps_disagree(tmp_path: Path, other: States) -> None:
    document = checkpoint(tmp_path, states(), other)
    assert [fault.code for fault in document.faults] == ["SM507"]
    assert len(document.subjects) == 1


def test_missing_files_are_named_and_counted(tmp_path: Path) -> None:
    value = edited(states(), ("checkpoint_parallel_dimensions", "tp_degree"), 2**20)
    document = checkpoint(tmp_path, value, value)
    assert [(fault.code, fault.rank) for fault in document.faults] == [
        ("CK101", rank) for rank in (2, 3, 4, 5)
    ]
    assert document.faults[0].values["file"] == "mp_rank_02_model_states.pt"
    assert document.faults[0].count is not None
    assert document.faults[0].count.number == 2**20 - 2
    # The maps have 2 ranks, the checkpoint claims more.
    assert [fault.code for fault in document.subjects[0].faults] == ["SM507"]


def without_degree() -> States:
    return without(states(), ("checkpoint_parallel_dimensions",))


def test_without_a_degree_the_map_says_which_files_there_should_be(tmp_path: Path) -> None:
    document = checkpoint(tmp_path, without_degree())
    (fault,) = document.faults
    assert (fault.code, fault.rank) == ("CK101", 1)
    assert (fault.values["file"], fault.values["stated"]) == ("mp_rank_01_model_states.pt", 2)
    assert not any("all files" in note for note in document.unchecked)
    assert codes(read(tmp_path / "mp_rank_00_model_states.pt")) == []
    assert codes(checkpoint(tmp_path, without_degree(), without_degree())) == []


@pytest.mark.parametrize("other", ["layer_00-model_00-model_states.pt", None])
def test_where_nothing_says_which_files_there_should_be_that_is_said(
    tmp_path: Path, other: str | None
) -> None:
    value = without_degree() if other else without(without_degree(), PARAMS[:1])
    if other:
        (tmp_path / other).touch()
    document = checkpoint(tmp_path, value)
    assert codes(document) == []
    assert any("whether all files are there" in note for note in document.unchecked)


@pytest.mark.parametrize("degree", [2**20 + 1, 10**40, 0, True, "2"])
def test_a_degree_that_is_none_is_refused_and_hides_no_map(tmp_path: Path, degree: object) -> None:
    value = edited(states(), ("checkpoint_parallel_dimensions", "tp_degree"), degree)
    document = checkpoint(tmp_path, value, states())
    (refusal,) = document.refusals
    assert (refusal.name, refusal.code) == ("tp_degree", "SM002")
    assert refusal.origin.pointer == "/checkpoint_parallel_dimensions/tp_degree"
    assert len(document.subjects) == 1
    assert document.faults == ()


def test_maps_of_tensors_that_are_not_stored_are_counted(tmp_path: Path) -> None:
    note = 'parameters whose tensor is not in every file of their ranks (1): "layers.0.w"'
    assert note in checkpoint(tmp_path, states(), states()).unchecked
    complete = read(SAMPLES / "deepspeed/autotp")
    assert complete.subjects
    assert not any("tensor is not in every file" in note for note in complete.unchecked)


def test_an_empty_pattern_is_shown_in_quotes(tmp_path: Path) -> None:
    value = edited(states(), (*PARAMS, ""), rows_map())
    notes = checkpoint(tmp_path, value, value).unchecked
    assert 'which parameters the pattern "" matches: it is used as a name' in notes
    assert not any("  " in note for note in notes)


@pytest.mark.parametrize("second", [(4, -4), (2**63,), (1,) * 65, "22", (2, True)])
def test_a_stated_shape_that_is_none_is_said(tmp_path: Path, second: object) -> None:
    value = edited(states(), ("param_shapes",), [{"layers.0.w": (2, 2)}, {"layers.0.w": second}])
    document = checkpoint(tmp_path, value, states())
    (note,) = [note for note in document.unchecked if "it is no shape" in note]
    assert "mp_rank_00" in note
    assert '"layers.0.w"' in note
    assert codes(document) == []


def test_a_second_stated_shape_that_differs_is_a_fault(tmp_path: Path) -> None:
    value = edited(states(), ("param_shapes",), [{"layers.0.w": (2, 2)}, {"layers.0.w": (4, 1)}])
    assert codes(checkpoint(tmp_path, value, states())) == ["SM507"]


@pytest.mark.parametrize("widths", [{}, {KEY: [[2]]}])
def test_a_fused_parameter_without_its_widths_has_no_witness_and_that_is_said(
    tmp_path: Path, widths: object
) -> None:
    value = states()
    info = value["universal_checkpoint_info"]
    info["parameter_with_sub_params"] = [{"patterns": [KEY], "shape": [(2, 2), 2], "partition_dim": 0}]
    info["sub_param_shard_widths"] = widths
    document = checkpoint(tmp_path, value, value)
    assert document.subjects[0].witnesses == ()
    assert 'parameters that the category lists do not describe fully (1): "layers.0.w"' in document.unchecked
    complete = edited(value, ("universal_checkpoint_info", "sub_param_shard_widths"), {KEY: [[1, 1], [1, 1]]})
    document = checkpoint(tmp_path, complete, complete)
    assert document.subjects[0].witnesses
    assert not any("do not describe fully" in note for note in document.unchecked)


def test_witnesses_of_absurd_shapes_are_not_built(tmp_path: Path) -> None:
    value = edited(states(), ("param_shapes",), [{"layers.0.w": (2**62, 2**62)}])
    document = checkpoint(tmp_path, value, value)
    assert document.subjects[0].witnesses == ()
    assert codes(document) == ["SM204", "SM204"]


def test_one_file_alone_says_that_the_others_were_not_read(tmp_path: Path) -> None:
    checkpoint(tmp_path, states(), states())
    document = read(tmp_path / "mp_rank_01_model_states.pt", display="one.pt")
    assert codes(document) == []
    assert any("other ranks" in note for note in document.unchecked)


def test_an_unreadable_file_hides_neither_the_others_nor_itself(tmp_path: Path) -> None:
    checkpoint(tmp_path, states(), states())
    (tmp_path / "mp_rank_01_model_states.pt").write_bytes(b"PK\x03\x04 cut")
    document = read(tmp_path)
    assert len(document.subjects) == 1
    assert [refusal.name for refusal in document.refusals] == ["mp_rank_01_model_states.pt"]
    assert codes(document) == []


@pytest.mark.parametrize(
    ("shape", "code"),
    [((4, 1), "SM507"), ((1, 4), "SM507"), ((2, 3), "SM204"), ((4,), "SM507"), ((), "SM204")],
)
def test_stored_shapes_are_held_against_the_map(tmp_path: Path, shape: tuple[int, ...], code: str) -> None:
    other = edited(states(), ("param_shapes",), [{"layers.0.w": shape}])
    (fault,) = checkpoint(tmp_path, states(), other).subjects[0].faults
    assert (fault.code, fault.rank) == (code, 1)
    assert (fault.values["stated"], fault.values["found"]) == (shape, (2, 2))


def test_a_second_pattern_for_one_name_is_a_fault(tmp_path: Path) -> None:
    both = edited(states(), (*PARAMS, "^layers\\.\\d\\.w"), rows_map())
    document = checkpoint(tmp_path, both, both)
    assert "SM507" in [fault.code for fault in document.subjects[0].faults]
    assert document.subjects[1].name == "^layers\\.\\d\\.w"


def test_wild_patterns_are_not_run_and_that_is_said(tmp_path: Path) -> None:
    both = edited(states(), (*PARAMS, "(l+)+$"), rows_map())
    document = checkpoint(tmp_path, both, both)
    assert document.subjects[0].faults == ()
    assert any("not run" in note for note in document.unchecked)


def test_exchanged_halves_of_a_fused_weight_differ_from_the_witness(tmp_path: Path) -> None:
    fused = {
        "logical_shape": [8],
        "ranks": {
            rank: {
                "shard_shape": [4],
                "pieces": [
                    {
                        "shape": [2],
                        "source": [4 * half + 2 * rank, [1]],
                        "dest": [2 * (1 - half), [1]],
                        "locations": [rank],
                    }
                    for half in range(2)
                ],
            }
            for rank in range(2)
        },
    }
    value = edited(states(), (*PARAMS, KEY), fused)
    value["param_shapes"] = [{"layers.0.w": (4,)}]
    info = value["universal_checkpoint_info"]
    info["parameter_with_sub_params"] = [{"patterns": [KEY], "shape": [(4, 4)], "partition_dim": 0}]
    info["sub_param_shard_widths"] = {KEY: [[2, 2], [2, 2]]}
    (subject,) = checkpoint(tmp_path, value, value).subjects
    ((label, witness),) = subject.witnesses
    assert label == "parameter_with_sub_params"
    checked = {(p.source.offset, p.dest.offset) for rank, _, p in subject.shard_map.pieces() if rank == 1}
    expected = {(p.source.offset, p.dest.offset) for rank, _, p in witness.pieces() if rank == 1}
    assert (checked, expected) == ({(2, 2), (6, 0)}, {(2, 0), (6, 2)})


def test_malformed_category_lists_are_refused_beside_the_maps(tmp_path: Path) -> None:
    value = edited(states(), ("universal_checkpoint_info", "tp_replicated_parameter_patterns"), "^w$")
    document = checkpoint(tmp_path, value, value)
    assert [refusal.name for refusal in document.refusals] == ["category lists"]
    assert document.subjects[0].witnesses == ()


@pytest.mark.parametrize(
    "entry", [entry for entry in MANIFEST if entry["format"] == "deepspeed"], ids=lambda e: e["path"]
)
def test_real_files_show_what_only_the_file_set_shows(entry: dict[str, Any]) -> None:
    document = read(SAMPLES / entry["path"], display=entry["path"])
    assert document.kind == "deepspeed"
    found = codes(document) + [refusal.code for refusal in document.refusals]
    expected = {
        "deepspeed/damaged/shard_shape": ["SM507"],
        "deepspeed/damaged/rank_missing": ["SM507"],
        "deepspeed/damaged/version_new": ["SM004"],
    }
    assert found == expected.get(entry["path"], [])
    assert (document.subjects == ()) == (entry["path"] == "deepspeed/damaged/version_new")
    assert document.unchecked


def test_real_witnesses_are_the_same_pieces_as_the_maps() -> None:
    mapped = [subject for subject in read(SAMPLES / "deepspeed/autotp").subjects if subject.witnesses]
    assert len(mapped) == 9
    for subject in mapped:
        ((_, witness),) = subject.witnesses
        assert witness.logical_shape == subject.shard_map.logical_shape
        for rank, shard in subject.shard_map.ranks.items():
            assert witness.ranks[rank] == shard


def test_rank_keys_of_json_copies_are_text() -> None:
    integer_keys = read(SAMPLES / "ds_affine/good.pt").subjects[0].shard_map
    text_keys = read(SAMPLES / "ds_affine/good_string_keys.pt").subjects[0].shard_map
    assert integer_keys.ranks == text_keys.ranks


def test_rank_in_name() -> None:
    names = [
        "mp_rank_00_model_states.pt",
        "mp_rank_123_model_states.pt",
        "mp_rank_007_model_states.pt",
        "mp_rank_1_model_states.pt",
        f"mp_rank_{'9' * 20}_model_states.pt",
        "zero_pp_rank_0_mp_rank_00_model_states.pt",
    ]
    assert [rank_in_name(name) for name in names] == [0, 123, None, None, None, None]


def test_first_difference_tells_types_apart() -> None:
    value = {"a": [1, {"b": float("nan")}]}
    assert first_difference(value, copy.deepcopy(value)) is None
    assert first_difference({"a": [1]}, {"a": [True]}) == (("a", 0), "1", "true")
    assert first_difference({"a": [1]}, {"a": [1.0]}) == (("a", 0), "1", "1.0")
    assert first_difference({"a": 1, "b": 2}, {"a": 1}) == (("b",), "present", "absent")
    assert first_difference({"a": [1, 2], "b": 0}, {"a": [1, 3], "b": 9}) == (("a", 1), "2", "3")
    assert first_difference([1], [1, 2]) == ((), "a list of 1", "a list of 2")
