"""What is demanded of torch's own optimizers is what they need, and of others nothing."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.formats.audited import said
from verifier.contracts.known import known_contract
from verifier.formats.torch_files.optimizer_kinds import KINDS, Kind, kinds_of

State = dict[str, Any]

FLAGS = ("amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused", "nesterov", "centered")
CONSTRUCTED: dict[str, list[State]] = {
    "RMSprop": [{"momentum": 0.9}, {"momentum": 0.9, "centered": True}],
    "SGD": [{"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"momentum": 0.9, "dampening": 0.5}],
    "Adagrad": [{"initial_accumulator_value": 0.5, "lr_decay": 0.1}],
    "Adam": [{"lr": torch.tensor(0.01), "capturable": True}, {"betas": (0.0, 0.9)}],
    "AdamW": [{"lr": torch.tensor(0.01), "fused": True}],
    "LBFGS": [{"line_search_fn": "strong_wolfe"}],
    "NAdam": [{"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "Adafactor": [{"eps": (1e-30, 1e-3)}],
}
TRAINED: dict[str, dict[str, Any]] = {"SGD": {"momentum": 0.9}}
"""Options without which an optimizer keeps no state."""


def made(name: str, *, steps: int = 3, **options: Any) -> Any:
    """A real optimizer after some steps, over two groups where it takes them."""
    torch.manual_seed(1)
    parameters = [torch.nn.Parameter(torch.randn(4, 3)) for _ in range(4)]
    if name not in ("Muon", "LBFGS", "SparseAdam"):
        parameters[3] = torch.nn.Parameter(torch.randn(5))
    groups = [{"params": parameters[:2]}, {"params": parameters[2:]}]
    optimizer = getattr(torch.optim, name)(parameters if name == "LBFGS" else groups, **options)
    stepped(optimizer, steps)
    return optimizer


def stepped(optimizer: Any, steps: int = 1) -> None:
    parameters = [p for group in optimizer.param_groups for p in group["params"]]

    def closure() -> torch.Tensor:
        for parameter in parameters:
            gradient = 2 * parameter.detach() + 0.1
            parameter.grad = (
                gradient.to_sparse() if isinstance(optimizer, torch.optim.SparseAdam) else gradient
            )
        return torch.stack([(p.detach().float() ** 2).sum() for p in parameters]).sum()

    for _ in range(steps):
        optimizer.step(closure)


def variants() -> Iterator[tuple[str, State]]:
    """Every optimizer with two of its flags at a time, and with one of them and the options of above."""
    for kind in KINDS:
        flags = [flag for flag in FLAGS if flag in kind.options]
        for options in [{}, *CONSTRUCTED.get(kind.name, [])]:
            pairs = [] if options else itertools.combinations(flags, 2)
            for on in [(), *itertools.combinations(flags, 1), *pairs]:
                yield kind.name, {**options, **dict.fromkeys(on, True)}


def saved(folder: Path, state: State) -> Path:
    torch.save(state, folder / "optimizer.pt")
    return folder / "optimizer.pt"


UNKNOWN = "no optimizer of torch is known by such a group"


def accepted(folder: Path, state: State) -> tuple[str, ...]:
    """What is left unchecked of a state that nothing is wrong with."""
    report = said(saved(folder, state), values=True)
    assert (report.verdict, report.sentences) == ("proved", ())
    return report.unchecked


def test_every_variant_of_every_optimizer_is_known_and_right(tmp_path: Path) -> None:
    tried = 0
    for name, options in variants():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fresh, old = made(name, steps=0, **options), made(name, **options)
        except (RuntimeError, ValueError, TypeError, AssertionError):
            continue  # torch refuses these options together, or without a GPU
        tried += 1
        for optimizer in (fresh, old):
            state = optimizer.state_dict()
            assert not any(UNKNOWN in note for note in accepted(tmp_path, state)), (name, options)
    assert tried > 100


def test_the_table_is_that_of_torch() -> None:
    for kind in KINDS:
        group = made(kind.name, steps=0).state_dict()["param_groups"][0]
        assert set(group) - {"params"} == kind.options, kind.name
        assert kind.marks <= kind.options


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_demanded_is_what_torch_cannot_do_without(kind: Kind) -> None:
    """An option is demanded exactly where a state without it is loaded and a step then fails."""
    for name in sorted(kind.options):
        assert any(_fails_without(kind, name, steps) for steps in (0, 3)) == (name in kind.reads), name


def _fails_without(kind: Kind, name: str, steps: int) -> bool:
    state = made(kind.name, steps=steps).state_dict()
    for group in state["param_groups"]:
        del group[name]
    optimizer = made(kind.name, steps=0)
    optimizer.load_state_dict(state)
    try:
        stepped(optimizer)
    except KeyError:
        return True
    return False


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_missing_option_is_found_where_torch_has_left_its_marks(kind: Kind, tmp_path: Path) -> None:
    for name in sorted(kind.reads):
        state = made(kind.name, **TRAINED.get(kind.name, {})).state_dict()
        for group in state["param_groups"]:
            del group[name]
        report = said(saved(tmp_path, state), values=True)
        if kind.marks and name not in kind.marks:
            assert report.codes == ("CK116",), name
            assert f'parameter group 0 has no "{name}", every step of ' in report.sentences[0]
        else:
            assert any(UNKNOWN in note for note in report.unchecked)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_options_of_newer_versions_are_not_demanded(kind: Kind, tmp_path: Path) -> None:
    """States that an older torch has written, whatever it lacked."""
    newer = sorted(kind.may)
    for absent in [newer, *[[name] for name in newer], *[newer[:count] for count in range(2, len(newer))]]:
        state = made(kind.name).state_dict()
        for group in state["param_groups"]:
            for name in absent:
                del group[name]
        assert not any(UNKNOWN in note for note in accepted(tmp_path, state))


DAMAGES: dict[str, tuple[Callable[[State], object], str]] = {
    "no learning rate": (
        lambda s: s["param_groups"][1].pop("lr"),
        'parameter group 1 has no "lr", every step of Adam and AdamW reads it',
    ),
    "no betas, anywhere": (
        lambda s: [group.pop("betas") for group in s["param_groups"]],
        'parameter group 0 has no "betas", every step of Adam and AdamW reads it (the first of 2 places)',
    ),
    "negative learning rate": (
        lambda s: s["param_groups"][0].update(lr=-1),
        '"lr" of parameter group 0 is -1, it is never below 0',
    ),
    "negative learning rate as a tensor": (
        lambda s: s["param_groups"][0].update(lr=torch.tensor(-1.0)),
        '"lr" of parameter group 0 is -1, it is never below 0',
    ),
    "learning rate is NaN": (
        lambda s: s["param_groups"][0].update(lr=float("nan")),
        '"lr" of parameter group 0 is nan, it is never below 0',
    ),
    "learning rate is text": (
        lambda s: s["param_groups"][0].update(lr="1e-3"),
        '"lr" of parameter group 0 is "1e-3", it is a number',
    ),
    "beta of 1": (
        lambda s: s["param_groups"][0].update(betas=(0.9, 1.0)),
        '"betas" of parameter group 0 is 1, each is at least 0 and below 1',
    ),
    "negative eps": (
        lambda s: s["param_groups"][0].update(eps=-1e-8),
        '"eps" of parameter group 0 is -1e-08, it is never below 0',
    ),
    "moments all NaN": (
        lambda s: [one["exp_avg"].fill_(float("nan")) for one in s["state"].values()],
        '"exp_avg" of parameter 0 has nan at its element 0, optimizer state is finite '
        "(the first of 4 places)",
    ),
    "one infinity": (
        lambda s: s["state"][2]["exp_avg_sq"].view(-1)[3:4].fill_(float("inf")),
        '"exp_avg_sq" of parameter 2 has inf at its element 3, optimizer state is finite',
    ),
    "integer moments": (
        lambda s: [one.update(exp_avg=one["exp_avg"].int()) for one in s["state"].values()],
        '"exp_avg" of parameter 0 is int32, it is a tensor of floating-point numbers (the first of 2 places)',
    ),
    "boolean moment": (
        lambda s: s["state"][3].update(exp_avg_sq=s["state"][3]["exp_avg_sq"] > 0),
        '"exp_avg_sq" of parameter 3 is bool, it is a tensor of floating-point numbers',
    ),
    "a number for a moment": (
        lambda s: s["state"][0].update(exp_avg=0.5),
        '"exp_avg" of parameter 0 is the number 0.5, it is a tensor of floating-point numbers',
    ),
    "steps below 0": (
        lambda s: [one.update(step=torch.tensor(-2.0)) for one in s["state"].values()],
        "parameter 0 is at step -2, steps are counted from 0 (the first of 4 places)",
    ),
    "steps are NaN": (
        lambda s: [one["step"].fill_(float("nan")) for one in s["state"].values()],
        "parameter 0 is at step nan, steps are counted from 0 (the first of 4 places)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_impossible_state_is_found(name: str, tmp_path: Path) -> None:
    damage, sentence = DAMAGES[name]
    state = copy.deepcopy(made("AdamW").state_dict())
    damage(state)
    report = said(saved(tmp_path, state), values=True)
    assert (report.verdict, set(report.codes)) == ("refuted", {"CK116"})
    assert report.sentences[0].endswith(sentence)


_KINDS = torch.optim.lr_scheduler
SCHEDULERS: dict[str, Callable[[Any], Any]] = {
    "one cycle": lambda o: _KINDS.OneCycleLR(o, max_lr=0.1, total_steps=37),
    "cosine": lambda o: _KINDS.CosineAnnealingLR(o, T_max=37),
    "linear to 0": lambda o: _KINDS.LinearLR(o, start_factor=1 / 3, end_factor=0.0, total_iters=37),
    "polynomial": lambda o: _KINDS.PolynomialLR(o, total_iters=37),
    "exponential": lambda o: _KINDS.ExponentialLR(o, gamma=0.5),
    "cyclic": lambda o: _KINDS.CyclicLR(o, base_lr=0.0, max_lr=0.1, cycle_momentum=False),
    "restarts": lambda o: _KINDS.CosineAnnealingWarmRestarts(o, T_0=7),
    "averaged": lambda o: torch.optim.swa_utils.SWALR(o, swa_lr=0.01),
}


@pytest.mark.parametrize("choice", SCHEDULERS)
@pytest.mark.parametrize("name", ["AdamW", "SGD"])
def test_schedules_are_no_fault(name: str, choice: str, tmp_path: Path) -> None:
    optimizer = made(name, **TRAINED.get(name, {}))
    chosen = SCHEDULERS[choice](optimizer)
    for _ in range(36):
        stepped(optimizer)
        chosen.step()
    assert not any(UNKNOWN in note for note in accepted(tmp_path, optimizer.state_dict()))


def test_own_options_of_groups_are_no_fault(tmp_path: Path) -> None:
    state = made("AdamW").state_dict()
    for place, group in enumerate(state["param_groups"]):
        group.update(name=f"layer{place}", lr_scale=-0.5, layer_id=place, initial_lr=0.1, use_muon=False)
    assert not any(UNKNOWN in note for note in accepted(tmp_path, state))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.float8_e4m3fn])
def test_moments_of_any_precision_are_right(dtype: torch.dtype, tmp_path: Path) -> None:
    state = made("AdamW").state_dict()
    for one in state["state"].values():
        one["exp_avg"], one["exp_avg_sq"] = one["exp_avg"].to(dtype), one["exp_avg_sq"].to(dtype)
    unread = [note for note in accepted(tmp_path, state) if note.startswith("values of")]
    said_so = ["values of 8 moments: of a dtype or form that is not read"]
    assert unread == (said_so if dtype == torch.float8_e4m3fn else [])


OTHERS: dict[str, tuple[State, State]] = {
    "Lion (timm)": (
        {"lr": 1e-4, "betas": (0.9, 0.99), "weight_decay": 0.0, "caution": False, "foreach": None,
         "maximize": False},
        {"exp_avg": torch.zeros(3)},
    ),
    "Adafactor (transformers)": (
        {"lr": None, "eps": (1e-30, 1e-3), "clip_threshold": 1.0, "decay_rate": -0.8, "beta1": None,
         "weight_decay": 0.0, "scale_parameter": True, "relative_step": True, "warmup_init": False},
        {"step": 3, "exp_avg_sq": torch.zeros(3), "RMS": 0.1},
    ),
    "8-bit AdamW (bitsandbytes)": (
        {"lr": 1e-4, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.0},
        {"step": 3, "state1": torch.zeros(3, dtype=torch.uint8), "absmax1": torch.zeros(1)},
    ),
    "quantised in its own way": (
        {"lr": 1e-4, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.0},
        {"step": 3, "exp_avg": torch.zeros(3, dtype=torch.int8), "scale": torch.ones(1)},
    ),
    "one that counts its steps elsewhere": (
        {"lr": 1e-4, "warmup": 100, "eps": 1e-8},
        {"step": 0, "exp_avg": torch.ones(3)},
    ),
    "Adam-mini": (
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.0},
        {"step": 3, "exp_avg": torch.zeros(4, 5), "exp_avg_sq": torch.zeros(4)},
    ),
    "ascent of its own": ({"lr": -1.0, "depth": 3}, {"velocity": torch.zeros(3)}),
    "LAMB without a rate": (
        {"betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.0},
        {"step": 3, "exp_avg": torch.zeros(3), "exp_avg_sq": torch.zeros(3)},
    ),
    "Muon (Moonlight)": (
        {"lr": 1e-3, "wd": 0.1, "momentum": 0.95, "nesterov": True, "ns_steps": 5, "adamw_eps": 1e-8},
        {"momentum_buffer": torch.zeros(3, 2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("fresh", [False, True])
def test_of_other_optimizers_nothing_is_demanded_and_it_is_said(
    name: str, fresh: bool, tmp_path: Path
) -> None:
    options, kept = OTHERS[name]
    state = {"state": {} if fresh else {0: kept}, "param_groups": [{**options, "params": [0]}]}
    notes = accepted(tmp_path, state)
    assert fresh or any(UNKNOWN in note for note in notes)


def test_kinds_of_one_form_are_told_together() -> None:
    group = made("AdamW").state_dict()["param_groups"][0].keys() - {"params"}
    state = frozenset({"step", "exp_avg", "exp_avg_sq"})
    assert [kind.name for kind in kinds_of(group, [state])] == ["Adam", "AdamW"]
    assert kinds_of({"lr", "betas"}, [state]) == ()


def test_every_kind_has_a_contract() -> None:
    assert all(known_contract(f"torch.optim.{kind.name}") for kind in KINDS)
