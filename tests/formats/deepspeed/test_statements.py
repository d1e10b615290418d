"""What model states say of their parameters: one contradiction is one finding, a right file has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.formats.audited import Said, said
from tests.formats.deepspeed.zero_shards import State, checkpoint, checkpoint_of_stage_3, write

MODEL = "mp_rank_00_model_states.pt"
MODEL_3 = [f"zero_pp_rank_{rank}_mp_rank_00_model_states.pt" for rank in range(2)]

Damage = Callable[[State], object]


def filled(state: State, *, cut: bool, first: bool = True) -> State:
    """Model states with a frozen parameter, a shared one and a buffer beside those that are trained."""
    full = {name: shape for group in state["param_shapes"] for name, shape in group.items()}
    full |= {"head.f": torch.Size((3, 3))}
    module = {name: torch.zeros(0 if cut else shape) for name, shape in full.items()}
    module["deep.c"] = module["c"]
    return state | {
        "module": module | {"norm.mean": torch.zeros(3), "norm._extra_state": torch.zeros(2)},
        "frozen_param_shapes": {"head.f": full["head.f"]},
        "frozen_param_fragments": {"head.f": torch.zeros(5) if cut else torch.zeros(3, 3)},
        "shared_params": {"deep.c": "c"} if first else {},
        "buffer_names": ["norm.mean"],
        "dp_world_size": 2,
        "global_steps": 7,
    }


def audit(folder: Path, *damages: Damage) -> Said:
    """A checkpoint of stage 2 after damage."""
    files = checkpoint()
    files[MODEL] = filled(files[MODEL], cut=False)
    for damage in damages:
        damage(files[MODEL])
    return said(write(folder / "ckpt", files))


def audit_3(folder: Path, *damages: Damage, only: int | None = None) -> Said:
    """The same of stage 3; damage is done to the files of all ranks, or of one."""
    files = checkpoint_of_stage_3()
    for rank, name in enumerate(MODEL_3):
        files[name] = filled(files[name], cut=True, first=rank == 0)
        for damage in damages if only in (None, rank) else ():
            damage(files[name])
    return said(write(folder / "ckpt", files))


def put(key: str, name: str, value: object) -> Damage:
    return lambda state: state[key].update({name: value})


def replaced(key: str, value: object) -> Damage:
    return lambda state: state.update({key: value})


def renamed(state: State) -> None:
    group = state["param_shapes"][1]
    group["ghost"] = group.pop("c")
    state["shared_params"] = {"deep.c": "ghost"} if state["shared_params"] else {}


def moved(state: State, old: str, new: str) -> None:
    state["module"][new] = state["module"].pop(old)


def transposed(state: State) -> None:
    state["param_shapes"][0]["a"] = torch.Size((3, 5))


DAMAGES: dict[str, tuple[Damage, str]] = {
    "a shape is transposed": (
        transposed,
        '"a" of module has shape (5, 3), param_shapes says (3, 5)',
    ),
    "a tensor of another shape": (
        put("module", "b", torch.zeros(2, 2)),
        '"b" of module has shape (2, 2), param_shapes says (7,)',
    ),
    "a frozen shape is wrong": (
        put("frozen_param_shapes", "head.f", torch.Size((1, 9))),
        '"head.f" of module has shape (3, 3), frozen_param_shapes says (1, 9)',
    ),
    "frozen shapes are lost": (
        replaced("frozen_param_shapes", None),
        '"head.f" is not in frozen_param_shapes, frozen_param_fragments has it',
    ),
    "frozen values are lost": (
        replaced("frozen_param_fragments", {}),
        '"head.f" is not in frozen_param_fragments, frozen_param_shapes has it',
    ),
    "frozen values are short": (
        put("frozen_param_fragments", "head.f", torch.zeros(3, 2)),
        '"head.f" in frozen_param_fragments has 6 elements, frozen_param_shapes says (3, 3)',
    ),
    "a shared parameter is lost": (
        replaced("shared_params", {}),
        '"deep.c" is in module and in no list of names, it has the bytes of "c", and shared_params does not '
        "say so",
    ),
    "a shared parameter is another": (
        replaced("shared_params", {"deep.c": "b"}),
        '"deep.c" in shared_params is "b", in module it has the bytes of "c"',
    ),
    "a shared parameter of another shape": (
        lambda state: (
            replaced("shared_params", {"deep.c": "b"})(state),
            put("module", "deep.c", torch.zeros(4))(state),
        ),
        '"deep.c" in shared_params is "b", in module one has shape (4,), the other (7,)',
    ),
    "more ranks are counted": (
        replaced("dp_world_size", 9),
        "dp_world_size is 9, partition_count in zero_pp_rank_0_mp_rank_00_optim_states.pt is 2",
    ),
}


@pytest.mark.parametrize("run", [audit, audit_3])
def test_right_statements_are_proved(run: Callable[[Path], Said], tmp_path: Path) -> None:
    report = run(tmp_path)
    assert (report.verdict, report.sentences) == ("proved", ())


@pytest.mark.parametrize("name", DAMAGES)
def test_one_contradiction_is_one_finding_in_words(name: str, tmp_path: Path) -> None:
    damage, sentence = DAMAGES[name]
    report = audit(tmp_path, damage)
    assert (report.verdict, report.sentences) == ("refuted", (f"{MODEL}: {sentence}",))
    assert report.codes == ("CK114",)


DAMAGES_3: dict[str, tuple[Damage, str]] = {
    "a parameter has another name": (
        renamed,
        '"c" is in module and in no list of names, they have "ghost", which module has not',
    ),
    "a shared parameter is lost": (
        replaced("shared_params", {}),
        '"deep.c" is in module and in no list of names, its values are cut, and nothing says where they are',
    ),
    "frozen shapes are lost": (
        replaced("frozen_param_shapes", None),
        '"head.f" is not in frozen_param_shapes, frozen_param_fragments has it (the first of 2 places)',
    ),
    "a frozen shape is wrong": (
        put("frozen_param_shapes", "head.f", torch.Size((1, 1))),
        '"head.f" in frozen_param_fragments has 5 elements, frozen_param_shapes says (1, 1) '
        "(the first of 2 places)",
    ),
    "more ranks are counted": (
        replaced("dp_world_size", 9),
        "dp_world_size is 9, partition_count in zero_pp_rank_0_mp_rank_00_optim_states.pt is 2 "
        "(the first of 2 places)",
    ),
}


@pytest.mark.parametrize("name", DAMAGES_3)
def test_one_contradiction_in_stage_3_is_one_finding_in_words(name: str, tmp_path: Path) -> None:
    damage, sentence = DAMAGES_3[name]
    report = audit_3(tmp_path, damage)
    assert (report.verdict, report.sentences) == ("refuted", (f"{MODEL_3[0]}: {sentence}",))


def test_files_after_another_step_are_of_another_save(tmp_path: Path) -> None:
    report = audit_3(tmp_path, replaced("global_steps", 9), only=1)
    assert report.codes == ("CK114",)
    assert report.sentences == (f"{MODEL_3[1]}: global_steps is 9, {MODEL_3[0]} says 7",)


@pytest.mark.parametrize("run", [audit, audit_3])
def test_a_name_that_may_be_a_lost_buffer_is_a_warning(run: Callable[..., Said], tmp_path: Path) -> None:
    report = run(tmp_path, replaced("buffer_names", []))
    assert (report.verdict, report.codes, report.warnings) == ("proved", (), ("CK205",))
    assert '"norm.mean" is in module alone' in report.sentences[0]


ALIKE: dict[str, Damage] = {
    "what quantised weights add": put("module", "a.absmax", torch.zeros(2)),
    "steps of wrappers": lambda state: moved(state, "head.f", "head._checkpoint_wrapped_module.f"),
    "a release without the lists": lambda state: [
        state.pop(key) for key in ("shared_params", "buffer_names", "frozen_param_fragments")
    ],
    "a state dict with names of its own": replaced("module", {"model": {"w": torch.zeros(3)}}),
    "no state dict": replaced("module", None),
    "sequence-parallel ranks are not counted": replaced("dp_world_size", 1),
}


@pytest.mark.parametrize("run", [audit, audit_3])
@pytest.mark.parametrize("name", ALIKE)
def test_what_right_checkpoints_may_have_is_no_finding(
    name: str, run: Callable[..., Said], tmp_path: Path
) -> None:
    report = run(tmp_path, ALIKE[name])
    assert (report.verdict, report.sentences) == ("proved", ())


def test_a_module_that_another_has_twice_is_no_error(tmp_path: Path) -> None:
    report = audit(tmp_path, lambda state: put("module", "e", state["module"]["c"])(state))
    assert (report.verdict, report.codes, report.warnings) == ("proved", (), ("CK205",))


def test_copies_of_mics_are_no_other_ranks(tmp_path: Path) -> None:
    assert audit_3(tmp_path, replaced("dp_world_size", 8)).verdict == "proved"


def test_stage_1_lists_no_frozen_parameters(tmp_path: Path) -> None:
    files = checkpoint()
    files[MODEL] = filled(files[MODEL], cut=False)
    files[MODEL] |= {"frozen_param_shapes": None, "frozen_param_fragments": None}
    for name in files.keys() - {MODEL}:
        files[name]["optimizer_state_dict"]["zero_stage"] = 1
    report = said(write(tmp_path / "ckpt", files))
    assert (report.verdict, report.sentences) == ("proved", ())
    assert 'names of module that no list has (1): "head.f"' in report.unchecked


def test_names_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Sets of texts have another order in each process."""
    more = {name: torch.Size((3, 3)) for name in ("z", "y", "x", "w")}
    report = audit(tmp_path, lambda state: state.update(frozen_param_shapes=more | {"head.f": (3, 3)}))
    assert report.sentences == (
        f'{MODEL}: "z" is not in frozen_param_fragments, frozen_param_shapes has it (the first of 4 places)',
    )
