"""What torch's optimizers do with corrupted state dicts: the published rows, reproduced."""

from __future__ import annotations

import pytest
import torch

from tests.oracle.probes.comparison import cell_differences, compared
from tests.oracle.probes.published import counted, table
from verifier.oracle.probes.corruptions import CORRUPTIONS
from verifier.oracle.probes.loading import OUTCOMES, found_out, outcomes
from verifier.oracle.probes.probed import Probed
from verifier.oracle.probes.random_corruptions import random_corruptions
from verifier.oracle.probes.torch_optimizers import optimizer_named, torch_optimizers

pinned = pytest.mark.skipif(
    not torch.__version__.startswith("2.13."),
    reason=f"the published rows are of torch 2.13, this is {torch.__version__}",
)


@pinned
@pytest.mark.parametrize("name", ["AdamW", "SGD (fused)"])
def test_the_published_rows_are_reproduced(name: str) -> None:
    found = {name: outcomes(optimizer_named(name))}
    assert compared(found) == 65
    assert [difference for difference in cell_differences(found) if not difference.reason] == []


def test_the_fixed_list_has_every_published_corruption_once() -> None:
    names = [corruption.name for corruption in CORRUPTIONS]
    assert len(set(names)) == len(names)
    assert set(table()) <= set(names)
    assert {word for row in table().values() for word in row.values()} <= {*OUTCOMES, "?"}


def test_every_published_optimizer_is_probed() -> None:
    names = {probed.name.removeprefix("torch.optim.") for probed in torch_optimizers()}
    assert set(counted()) <= names
    concrete = {
        name
        for name, cls in vars(torch.optim).items()
        if isinstance(cls, type)
        and issubclass(cls, torch.optim.Optimizer)
        and cls is not torch.optim.Optimizer
    }
    assert concrete <= names


def test_corruptions_from_a_seed_are_the_same_again_and_others_from_another() -> None:
    first, again, other = (random_corruptions(seed, 12) for seed in (3, 3, 4))
    assert [c.name for c in first] == [c.name for c in again] != [c.name for c in other]
    adagrad = optimizer_named("Adagrad")
    assert outcomes(adagrad, first[:5]) == outcomes(adagrad, again[:5])


def test_a_corruption_leaves_the_good_state_alone() -> None:
    parameter = torch.nn.Parameter(torch.ones(4, 3))
    optimizer = torch.optim.Adam([{"params": [parameter]}])
    parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    good = optimizer.state_dict()
    before = repr(good)
    touched = [corruption for corruption in CORRUPTIONS if "swapped" not in corruption.name]
    for corruption in touched:
        if "truncated" not in corruption.name and "duplicate" not in corruption.name:
            corruption.of(good)
    assert repr(good) == before


@pytest.mark.parametrize(
    ("optimizer", "corruption", "taken"),
    [
        ("Adam", "all state dropped, groups kept (state={})", True),
        ("Adam", "state entry of one param missing", True),
        ("Adagrad", "all state dropped, groups kept (state={})", False),
        ("Adagrad", "state entry of one param missing", False),
        ("SGD", "state dict of a different optimizer class", True),
        ("Adam", "state dict of a different optimizer class (Adam)", True),
        ("Adam", "state dict of a different optimizer class", False),
        ("SGD", "tensor flattened (wrong rank)", False),
        ("LBFGS", "tensor flattened (wrong rank)", True),
        ("SGD", "NaN in tensor", False),
        ("SGD", "param ids swapped within group (same shape)", True),
        ("SGD", "param ids swapped within group (different shape)", False),
    ],
)
def test_what_no_loader_can_tell_from_a_good_state(optimizer: str, corruption: str, taken: bool) -> None:
    meant = next(one for one in CORRUPTIONS if one.name == corruption)
    assert found_out(optimizer_named(optimizer), meant).taken_for_good is taken


def test_a_state_that_begins_with_the_first_gradient_is_said_to_be_taken_for_good() -> None:
    from verifier.oracle.probes import loading
    from verifier.oracle.probes.observed import Circumstances

    found = loading.probe(optimizer_named("SGD"), Circumstances())
    assert any(note.endswith("all state dropped, groups kept (state={})") for note in found.notes)
    listed = {str(name) for fault in found.faults for name in fault.witness["corruptions"]}
    assert "all state dropped, groups kept (state={})" not in listed
    assert "duplicate param id in group" in listed


def test_an_optimizer_that_cannot_be_stepped_is_left_open() -> None:
    from verifier.oracle.probes import loading
    from verifier.oracle.probes.observed import Circumstances

    class Broken(torch.optim.SGD):
        def step(self, closure: object = None) -> None:  # type: ignore[override]
            raise RuntimeError("not today")

    found = loading.probe(Probed(name="Broken", build=Broken), Circumstances())
    assert found.open == ("a good state dict: RuntimeError: not today",)
    assert not found.faults
