"""Public reports about optimizers in torch, each shown by its probe; see the list in the report."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from verifier.contracts.document import Contract
from verifier.contracts.known import known_contract
from verifier.oracle.probes.catalogue import PROBES
from verifier.oracle.probes.corruptions import CORRUPTIONS
from verifier.oracle.probes.loading import outcome
from verifier.oracle.probes.observed import Circumstances, Probing
from verifier.oracle.probes.torch_optimizers import optimizer_named

pytestmark = pytest.mark.skipif(
    not torch.__version__.startswith("2.13."),
    reason=f"these defects were seen in torch 2.13, this is {torch.__version__}",
)


def seen(probe: str, name: str, contract: Contract | None = None) -> Probing:
    return PROBES[probe](optimizer_named(name), Circumstances(contract=contract))


def claims(found: Probing) -> str:
    return "\n".join(fault.claim for fault in found.faults)


def declared(name: str) -> Contract:
    made = known_contract(f"torch.optim.{name}")
    assert made is not None
    return made


def test_1_a_loaded_state_is_shared_in_process() -> None:
    assert "a step of the source changes the target" in claims(seen("aliasing", "Adam"))


@pytest.mark.parametrize(
    ("name", "trains_otherwise"),
    [("Adam", True), ("ASGD", True), ("SGD (dampening)", True), ("Adadelta", False), ("RMSprop", False)],
)
def test_2_reading_a_fresh_optimizer_changes_it(name: str, trains_otherwise: bool) -> None:
    told = claims(seen("reading", name))
    assert "get_optimizer_state_dict of a fresh optimizer: " in told
    assert ("after the next step" in told) == trains_otherwise


def test_3_partial_state_is_left_out_and_that_of_a_frozen_parameter_dropped() -> None:
    partial, frozen = seen("reading", "Adam").notes
    assert "a gradient for one of 2 parameters: 1 of 2 entries" in partial
    assert "a parameter is frozen: 1 of 2 entries arrive" in frozen


@pytest.mark.parametrize(("name", "field"), [("NAdam", "mu_product"), ("ASGD", "eta, mu")])
def test_4_loading_casts_state_to_the_dtype_of_the_parameter(name: str, field: str) -> None:
    told = claims(seen("round-trip", name))
    assert f"bfloat16 parameters: {field} was float32 [] and is bfloat16 []" in told
    assert f"float64 parameters: {field} was float32 [] and is float64 []" in told


def test_5_state_is_given_to_parameters_by_position() -> None:
    assert "the state of 'a' is given to 'b'" in claims(seen("names", "AdamW"))
    swapped = next(c for c in CORRUPTIONS if c.name == "param ids swapped within group (same shape)")
    assert outcome(optimizer_named("AdamW"), swapped) == "SA"


def test_6_fused_sgd_skips_vector_blocks_of_bfloat16() -> None:
    for count, moved in ((7, 6), (16, 0)):
        parameter = torch.nn.Parameter(torch.zeros(count, dtype=torch.bfloat16))
        parameter.grad = torch.arange(count).to(torch.bfloat16)
        torch.optim.SGD([parameter], lr=1.0, fused=True).step()
        if count == 7 or torch.backends.cpu.get_cpu_capability() == "AVX512":
            assert int((parameter != 0).sum()) == moved
    assert "the parameter differs by more than one unit" in claims(
        seen("shards", "SGD (fused)", declared("SGD"))
    )


def test_7_a_skipped_first_step_leaves_a_momentum_nobody_wrote() -> None:
    told = claims(seen("skipped-step", "SGD (fused)"))
    assert told.startswith("the first step skipped: after the next step 64 of 64 elements")
    assert not seen("skipped-step", "AdamW (fused)").faults


def test_10_adafactor_does_not_live_on_slices() -> None:
    found = seen("dtensors", "Adafactor", declared("Adafactor"))
    assert "it raises RuntimeError" in found.notes[0]
    assert not found.held


def test_11_muon_on_shards_is_not_muon() -> None:
    as_if_elementwise = declared("SGD")  # it has the fields of Muon
    assert "the parameter differs" in claims(seen("shards", "Muon", as_if_elementwise))
    assert seen("shards", "Muon", declared("Muon")).notes[0].startswith("the step of an element reads the")
    assert "elements differ after 3 steps" in seen("dtensors", "Muon", declared("Muon")).notes[0]


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_15_an_empty_shard_divides_by_zero(name: str) -> None:
    assert "ZeroDivisionError" in claims(seen("empty-shard", name))
    assert not seen("empty-shard", name, declared(name)).faults


@pytest.mark.parametrize("step", ["step = None", "step = python str 'abc'", "step = [2]"])
def test_16_a_bad_counter_is_refused_after_the_state_is_replaced(step: str) -> None:
    corruption = next(c for c in CORRUPTIONS if c.name == step)
    assert outcome(optimizer_named("Adam"), corruption) == "RD"


def test_19_eps_has_a_unit() -> None:
    right = declared("AdamW")
    assert not seen("scale", "AdamW", right).faults
    wrong = replace(right, hyperparameters={**right.hyperparameters, "eps": 0}, scale_equations=())
    assert "elements differ after 4 steps" in claims(seen("scale", "AdamW", wrong))


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "AdamW", "SGD"])
def test_28_fused_kernels_write_outside_a_strided_shard(name: str) -> None:
    told = claims(seen("views", f"{name} (fused)"))
    assert "6 of 12 foreign elements are overwritten; 9 of 12 own elements" in told
    assert not seen("views", name).faults


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "SGD"])
def test_29_fused_kernels_read_past_a_short_state(name: str) -> None:
    corruption = next(c for c in CORRUPTIONS if c.name == "tensor truncated to half")
    assert outcome(optimizer_named(f"{name} (fused)"), corruption) == "CRASH"


def test_30_zero_goes_on_with_a_replaced_parameter() -> None:
    told = claims(seen("replacement", "torch.distributed.optim.ZeroRedundancyOptimizer"))
    assert "the new parameter is not updated; the replaced parameter is updated" in told


def test_31_fused_sgd_cannot_begin_with_a_late_parameter() -> None:
    assert "it raises TypeError" in claims(seen("late-gradient", "SGD (fused)"))
