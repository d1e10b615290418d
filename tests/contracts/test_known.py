"""Contracts that come with the package: all of ``torch.optim``, right by the rules, and exact about scale."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from verifier.contracts.cases import check_document
from verifier.contracts.document import Contract, ScaleEquation
from verifier.contracts.known import known_contract, known_document, known_names
from verifier.contracts.scale import Conflict, solve

torch = pytest.importorskip("torch")

NOT_SCALED = ("torch.optim.Adadelta", "torch.optim.RAdam", "torch.optim.LBFGS")
OPTIONS: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
    "Adam": {"eps": 1e-3, "weight_decay": 0.1},
    "AdamW": {"eps": 1e-3, "weight_decay": 0.1, "amsgrad": True},
    "NAdam": {"eps": 1e-3, "weight_decay": 0.1},
    "Adamax": {"eps": 1e-3, "weight_decay": 0.1},
    "Adagrad": {"eps": 1e-3, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "lr_decay": 0.1},
    "RMSprop": {"eps": 1e-3, "weight_decay": 0.1, "centered": True, "momentum": 0.9},
    "Rprop": {"step_sizes": (1e-6, 50.0)},
    "ASGD": {"weight_decay": 0.1, "lambd": 0.1},
    "Adafactor": {"eps": (1e-3, 1e-3), "weight_decay": 0.1},
    "Muon": {"eps": 1e-3, "weight_decay": 0.1},
    "SparseAdam": {"eps": 1e-3},
}


def contract_of(name: str) -> Contract:
    found = known_contract(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", known_names())
def test_a_known_contract_breaks_no_rule_and_is_about_what_it_is_called(name: str) -> None:
    checked = check_document(known_document(name), name)
    assert (checked.broken, checked.name) == ((), name)
    assert contract_of(name) == checked.contract


def test_every_optimizer_of_torch_is_known() -> None:
    classes = {
        f"torch.optim.{name}"
        for name, found in vars(torch.optim).items()
        if inspect.isclass(found) and issubclass(found, torch.optim.Optimizer) and name != "Optimizer"
    }
    assert classes == {name for name in known_names() if name.startswith("torch.")}


@pytest.mark.parametrize("name", [name for name in known_names() if name.startswith("torch.")])
def test_hyperparameters_are_arguments(name: str) -> None:
    """Adafactor's pair eps is two quantities of different powers, eps1 and eps2."""
    arguments = {*inspect.signature(getattr(torch.optim, name.rpartition(".")[2])).parameters}
    declared = {*contract_of(name).hyperparameters}
    assert declared - arguments <= ({"eps1", "eps2"} if name.endswith("Adafactor") else set())


@pytest.mark.parametrize("name", ["torch.optim.Nothing", "", "../known/torch.optim.Adam"])
def test_what_is_not_known(name: str) -> None:
    assert known_contract(name) is None


def run(name: str, power_of_two: float) -> tuple[list[Any], Any]:
    """Four steps with parameters, hyperparameters and gradients transformed by the declared powers."""
    powers = contract_of(f"torch.optim.{name}").hyperparameters

    def scaled(option: str, value: Any) -> Any:
        if name == "Adafactor" and option == "eps":
            return tuple(scaled(f"eps{k}", one) for k, one in enumerate(value, 1))
        if isinstance(value, tuple):
            return tuple(scaled(option, one) for one in value)
        return value * power_of_two ** powers[option] if isinstance(value, float) else value

    generator = torch.Generator().manual_seed(0)
    shapes = [(4, 3)] if name == "Muon" else [(4, 3), (5,)]
    parameters = [torch.nn.Parameter(torch.randn(s, generator=generator) * power_of_two) for s in shapes]
    options = {"lr": 0.01, **OPTIONS[name]}
    optimizer = getattr(torch.optim, name)(parameters, **{key: scaled(key, v) for key, v in options.items()})
    for _ in range(4):
        for parameter in parameters:
            gradient = torch.randn(parameter.shape, generator=generator) / power_of_two
            parameter.grad = gradient.to_sparse() if name == "SparseAdam" else gradient
        optimizer.step()
    return parameters, optimizer


@pytest.mark.parametrize("name", [*OPTIONS])
def test_T27_declared_powers_are_exact_for_a_power_of_two(name: str) -> None:
    contract = contract_of(f"torch.optim.{name}")
    fields = {field.name: field for field in contract.fields}
    (plain, one), (eightfold, other) = run(name, 1.0), run(name, 8.0)
    for left, right in zip(plain, eightfold, strict=True):
        assert torch.equal(left * 8.0, right)
        for key, value in one.state[left].items():
            power = fields[key].scale_power
            assert power is not None
            assert torch.equal(torch.as_tensor(value) * 8.0**power, torch.as_tensor(other.state[right][key]))


def test_every_optimizer_that_claims_powers_is_run() -> None:
    claiming = {name for name in known_names() if contract_of(name).scale_equations}
    assert {f"torch.optim.{name}" for name in OPTIONS} == {n for n in claiming if n.startswith("torch.")}
    assert {*known_names()} - claiming == {*NOT_SCALED}


@pytest.mark.parametrize("name", NOT_SCALED)
def test_who_has_no_powers_claims_none(name: str) -> None:
    contract = contract_of(name)
    assert all(power in (None, 0) for power in contract.hyperparameters.values())
    assert all(field.scale_power in (None, 0) for field in contract.fields)


def test_T27_Adadelta_has_no_powers() -> None:
    """One eps joins a mean of squares of gradients and one of squares of updates."""
    conflict = solve(
        [
            ScaleEquation(name="squares of gradients", terms={"square_avg": 1, "grad": -2}),
            ScaleEquation(name="squares of updates", terms={"acc_delta": 1, "param": -2}),
            ScaleEquation(name="eps joins the first", terms={"eps": 1, "square_avg": -1}),
            ScaleEquation(name="eps joins the second", terms={"eps": 1, "acc_delta": -1}),
        ],
        {"param": 1, "grad": -1},
    )
    assert isinstance(conflict, Conflict)
    assert len(conflict.equations) == 4
