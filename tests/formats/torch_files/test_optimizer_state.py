"""State dicts of torch optimizers: what does not fit is found, and what the file cannot show is said."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.formats.audited import replay_entry, said
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, mutants, outcome
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import Request, read

ENTRIES = [entry for entry in read_manifest(SAMPLES / "manifest.json") if entry.path.parent.name == "optim"]
KIND = "optimizer-state"
SHAPES = {"a": (3, 2), "b": (3,), "c": (3, 2), "d": (3,)}

State = dict[str, Any]
Damage = Callable[[State], object]


def trained(kind: type[torch.optim.Optimizer] = torch.optim.AdamW, **options: Any) -> State:
    """What a real optimizer keeps after two steps; two groups, as weights and biases make them."""
    torch.manual_seed(3)
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in SHAPES.values()]
    groups = [{"params": parameters[:2]}, {"params": parameters[2:]}]
    optimizer = kind(groups, lr=1e-2, **options)  # type: ignore[call-arg]
    for _ in range(2):
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        optimizer.step()
    return optimizer.state_dict()


def saved(folder: Path, state: State, name: str = "optimizer.pt") -> Path:
    torch.save(state, folder / name)
    return folder / name


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path.name)
def test_recorded_states_have_their_verdict(entry: Any) -> None:
    assert replay_entry(entry, Settings()).agrees


def test_every_recorded_state_is_replayed() -> None:
    assert len(ENTRIES) == 8


@pytest.mark.parametrize(
    ("kind", "options", "moments"),
    [
        (torch.optim.AdamW, {"amsgrad": True}, 12),
        (torch.optim.SGD, {"momentum": 0.9}, 4),
        (torch.optim.SGD, {}, 0),
        (torch.optim.RMSprop, {"momentum": 0.9, "centered": True}, 12),
        (torch.optim.Adagrad, {}, 4),
        (torch.optim.Adadelta, {}, 8),
        (torch.optim.Adamax, {}, 8),
        (torch.optim.NAdam, {}, 8),
        (torch.optim.RAdam, {}, 8),
        (torch.optim.Rprop, {}, 8),
        (torch.optim.ASGD, {}, 4),
        (torch.optim.Adafactor, {}, 0),
    ],
)
def test_the_state_of_real_optimizers_fits(
    kind: type[torch.optim.Optimizer], options: dict[str, Any], moments: int, tmp_path: Path
) -> None:
    path = saved(tmp_path, trained(kind, **options))
    report = said(path, values=True, shapes=SHAPES)
    assert report.verdict == "proved"
    assert report.checks.get("moments", 0) == moments


def _moment(state: State, parameter: int, name: str, value: torch.Tensor) -> None:
    state["state"][parameter][name] = value


DAMAGES: dict[str, tuple[Damage, str]] = {
    "second moment missing": (
        lambda s: s["state"][1].pop("exp_avg_sq"),
        'the state of parameter 1 has no "exp_avg_sq", that of parameter 0 in the same group has',
    ),
    "both moments missing": (
        lambda s: [s["state"][1].pop(name) for name in ("exp_avg", "exp_avg_sq")],
        'the state of parameter 1 has no "exp_avg" and no "exp_avg_sq", that of parameter 0 in the same '
        "group has",
    ),
    "counter missing": (
        lambda s: s["state"][3].pop("step"),
        'the state of parameter 3 has no "step", that of parameter 2 in the same group has',
    ),
    "state missing": (
        lambda s: s["state"].pop(2),
        "parameter 2 has no state, 3 others have, 4 parameters are expected",
    ),
    "two states missing": (
        lambda s: [s["state"].pop(key) for key in (0, 2)],
        "parameter 0 has no state, 2 others have, 4 parameters are expected (the first of 2 places)",
    ),
    "in no group": (
        lambda s: s["param_groups"][1]["params"].pop(),
        "the state of parameter 3 belongs to no group, param_groups lists 3 others",
    ),
    "group lost": (
        lambda s: s["param_groups"].pop(),
        "the state of parameter 2 belongs to no group, param_groups lists 2 others (the first of 2 places)",
    ),
    "in two groups": (
        lambda s: s["param_groups"][0]["params"].append(3),
        "parameter 3 is listed 2 times in param_groups",
    ),
    "twice in one group": (
        lambda s: s["param_groups"][0]["params"].append(0),
        "parameter 0 is listed 2 times in param_groups",
    ),
    "moments of two shapes": (
        lambda s: _moment(s, 0, "exp_avg_sq", torch.zeros(2, 3)),
        '"exp_avg_sq" of parameter 0 has shape (2, 3), its "exp_avg" has (3, 2)',
    ),
    "flattened": (
        lambda s: s["state"][0].update(exp_avg=torch.zeros(6), exp_avg_sq=torch.zeros(6)),
        '"exp_avg" of parameter 0 has shape (6,), the model has 0 parameters of that shape, '
        "this file 1 state",
    ),
    "exchanged with another shape": (
        lambda s: s["state"].update({1: s["state"][0]}),
        '"exp_avg" of parameter 2 has shape (3, 2), the model has 2 parameters of that shape, '
        "this file 3 states",
    ),
    "counter set back": (
        lambda s: s["state"][1].update(step=torch.tensor(0.0), exp_avg=torch.tensor([-0.0, 0.5, 0.0])),
        '"exp_avg" of parameter 1 has 0.5 at its element 1, its parameter is at step 0, before which '
        "averages are 0 (the first of 2 places)",
    ),
    "moments exchanged": (
        lambda s: [
            one.update(exp_avg=one["exp_avg_sq"], exp_avg_sq=-abs(one["exp_avg"]))
            for one in s["state"].values()
        ],
        "averages of squares are never below 0 (the first of 4 places)",
    ),
    "one element negative": (
        lambda s: s["state"][2]["exp_avg_sq"].view(-1)[4:5].fill_(-0.5),
        '"exp_avg_sq" of parameter 2 has -0.5 at its element 4, averages of squares are never below 0',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damage_is_one_finding_in_words(name: str, tmp_path: Path) -> None:
    damage, sentence = DAMAGES[name]
    state = copy.deepcopy(trained())
    damage(state)
    report = said(saved(tmp_path, state), values=True, shapes=SHAPES)
    assert (report.verdict, report.codes) == ("refuted", ("CK116",))
    assert report.sentences[0].endswith(sentence)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_signs_are_read_in_every_dtype(dtype: torch.dtype, tmp_path: Path) -> None:
    state = trained()
    for one in state["state"].values():
        one["exp_avg_sq"] = one["exp_avg_sq"].to(dtype)
    assert said(saved(tmp_path, state), values=True).verdict == "proved"
    state["state"][0]["exp_avg_sq"][1, 1] = -2.0
    sentence = '"exp_avg_sq" of parameter 0 has -2 at its element 3, averages of squares are never below 0'
    assert said(saved(tmp_path, state), values=True).sentences == (sentence,)


def test_minus_zero_is_not_below_zero(tmp_path: Path) -> None:
    state = trained()
    state["state"][0]["exp_avg_sq"].fill_(-0.0)
    assert said(saved(tmp_path, state), values=True).verdict == "proved"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "-inf"])
def test_what_is_not_finite_is_found_in_every_dtype(dtype: torch.dtype, value: str, tmp_path: Path) -> None:
    state = trained()
    moment = torch.full((3, 2), torch.finfo(dtype).max, dtype=dtype)
    state["state"][0]["exp_avg"] = moment
    assert said(saved(tmp_path, state), values=True).verdict == "proved"
    moment[2, 0] = float(value)
    (sentence,) = said(saved(tmp_path, state), values=True).sentences
    assert "at its element 4, optimizer state is finite" in sentence


def stepped(module: torch.nn.Module, *parts: torch.nn.Module) -> State:
    """The state after a step on each of the parts, one after the other."""
    optimizer = torch.optim.AdamW(module.parameters())
    for part in parts:
        optimizer.zero_grad()
        part(torch.ones(1, 3)).sum().backward()
        optimizer.step()
    return optimizer.state_dict()


def test_parameters_that_never_had_a_gradient_are_no_fault(tmp_path: Path) -> None:
    """The pooler of BERT where nothing calls it, and a frozen bias."""
    body, pooler = torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)
    body.bias.requires_grad_(False)
    path = saved(tmp_path, stepped(torch.nn.ModuleList([body, pooler]), body))
    report = said(path, values=True)
    note = "whether state was lost: parameter 1 and 2 more has none, as one that never had a gradient"
    assert (report.verdict, report.sentences) == ("proved", ())
    assert note in report.unchecked
    assert said(path, shapes={"body": (3, 3)}).verdict == "proved"


def test_names_tell_which_expected_parameter_lost_its_state(tmp_path: Path) -> None:
    state = trained()
    state["param_groups"][0]["param_names"], state["param_groups"][1]["param_names"] = ["a", "b"], ["c", "d"]
    del state["state"][3]
    path = saved(tmp_path, state)
    assert said(path, shapes={name: SHAPES[name] for name in "abc"}).verdict == "proved"
    sentence = 'parameter "d" has no state, 3 others have, 4 parameters are expected'
    assert said(path, shapes=SHAPES).sentences == (sentence,)


def test_experts_that_are_not_always_asked_have_taken_fewer_steps(tmp_path: Path) -> None:
    experts = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(3)])
    path = saved(tmp_path, stepped(experts, *(experts[k] for k in (0, 1, 0, 0, 2, 0))))
    report = said(path, values=True)
    note = (
        "whether each parameter took the steps that it should: parameter 0 is at step 4, "
        "4 others at step 1, as where a gradient is not always there (2 differ)"
    )
    assert (report.verdict, report.sentences) == ("proved", ())
    assert note in report.unchecked
    assert said(saved(tmp_path, stepped(experts, *experts)), values=True).unchecked == tuple(
        one for one in report.unchecked if one != note
    )


def test_factors_beside_whole_moments_are_no_fault(tmp_path: Path) -> None:
    """Adafactor of transformers keeps factors for matrices, and a whole moment for vectors."""
    factors = {"exp_avg_sq_row": torch.zeros(4), "exp_avg_sq_col": torch.zeros(5)}
    states = {0: {"step": 3, **factors, "RMS": 0.1}, 1: {"step": 3, "exp_avg_sq": torch.zeros(5), "RMS": 0.1}}
    state = {"state": states, "param_groups": [{"lr": 1e-3, "params": [0, 1]}]}
    assert said(saved(tmp_path, state), values=True).verdict == "proved"


def test_values_are_not_read_unless_asked_for(tmp_path: Path) -> None:
    state = trained()
    state["state"][1]["step"] += 1
    report = said(saved(tmp_path, state))
    assert report.verdict == "proved"
    assert "steps and values of moments: no values were asked for" in report.unchecked
    assert "the shapes of the parameters: this file does not store them" in report.unchecked


def test_more_values_than_the_limit_are_not_read(tmp_path: Path) -> None:
    state = trained()
    state["state"][0]["exp_avg_sq"].fill_(-1)
    path = saved(tmp_path, state)
    tight = Request(values=True, limits=type(Request().limits)(value_bytes=50))
    document = read(path, request=tight)
    assert document.faults == ()
    (note,) = [note for note in document.unchecked if note.startswith("values of second moments")]
    assert note == "values of second moments: 72 bytes of tensor data, over the limit of 50"


def test_names_tell_parameters_apart(tmp_path: Path) -> None:
    """A state dict with names is held against the shapes name by name, whatever its order."""
    state = trained()
    state["param_groups"][0]["param_names"], state["param_groups"][1]["param_names"] = ["c", "b"], ["a", "d"]
    report = said(saved(tmp_path, state), shapes=SHAPES)
    assert report.verdict == "proved"
    assert not any("could be exchanged" in note for note in report.unchecked)
    state["param_groups"][0]["param_names"] = ["b", "c"]
    report = said(saved(tmp_path, state), shapes=SHAPES)
    assert report.sentences == (
        '"exp_avg" of parameter "b" has shape (3, 2), the parameter has (3,) (the first of 2 places)',
    )


def test_a_fresh_optimizer_has_no_state_and_fits(tmp_path: Path) -> None:
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(2))])
    assert said(saved(tmp_path, optimizer.state_dict())).verdict == "proved"


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (("param_groups",), 3, "SM002"),
        (("param_groups", 0), [1], "SM002"),
        (("param_groups", 0, "params"), None, "SM002"),
        (("param_groups", 0, "params"), [1.5], "SM002"),
        (("state", 0), 4, "SM002"),
    ],
)
def test_what_is_no_state_dict_is_refused(
    path: tuple[Any, ...], value: object, code: str, tmp_path: Path
) -> None:
    state = trained()
    target: Any = state
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    report = said(saved(tmp_path, state))
    assert (report.verdict, report.codes) == ("unreadable", (code,))


def test_a_state_dict_is_told_by_its_keys_wherever_they_stand(tmp_path: Path) -> None:
    state = trained()
    first = saved(tmp_path, state)
    last = saved(tmp_path, {"param_groups": state["param_groups"], "state": state["state"]}, "turned.pt")
    assert read(first).kind == read(last).kind == KIND


def test_mutants_are_refused_or_judged(tmp_path: Path) -> None:
    path = saved(tmp_path, trained())
    data = path.read_bytes()
    original = identity(read(path))
    seen = set()
    for mutant in mutants(data, seed=5, count=300):
        path.write_bytes(mutant)
        seen.add(outcome(path, KIND, original))
    assert {"refused", "refuted", "equal"} <= seen


def test_the_shapes_beside_the_recorded_states_are_those_of_their_parameters() -> None:
    listed = json.loads((SAMPLES / "optim" / "params.json").read_text())["params_in_order"]
    shapes = json.loads((SAMPLES / "optim" / "shapes.json").read_text())
    assert shapes == {one["name"]: one["shape"] for one in listed}
