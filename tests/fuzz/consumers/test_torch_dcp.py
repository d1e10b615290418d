"""torch's validators of chunks: what is known of them, and that the target finds it."""

import logging
import pickle
from collections.abc import Sequence

import pytest

from fuzz.build import piece, shard_map
from fuzz.campaign import run_case
from fuzz.cases import Case, Selection
from fuzz.consumers.boxes import Box
from fuzz.consumers.torch_dcp import OPERATIONS, PlanError, TorchDcpTarget, dcp_plan, shards_metadata
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally
from verifier.model.expectation import Expectation

SMALL = TorchDcpTarget(selection=Selection(size=40))
WHOLE, INSIDE = Box((0,), (6,)), Box((2,), (0,))
LOW, HIGH = Box((0, 0), (2, 4)), Box((2, 0), (2, 4))


def tally_of(target: TorchDcpTarget, cases: int) -> Tally:
    found = Tally()
    for index in range(cases):
        found.merge(run_case(target, 5, index))
    return found


@pytest.fixture(scope="module")
def found() -> Tally:
    return tally_of(SMALL, 420)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("boxes", "refused"),
    [
        ([LOW, HIGH], False),
        ([LOW], True),
        ([LOW, LOW], True),
        ([LOW, HIGH, HIGH], True),
        ([LOW, Box((3, 0), (2, 4))], True),
        ([LOW, HIGH, Box((4, 0), (0, 4))], False),
    ],
)
def test_what_they_are_right_about(operation: str, boxes: Sequence[Box], refused: bool) -> None:
    if not refused:
        OPERATIONS[operation]((4, 4), boxes, 2)
        return
    with pytest.raises(ValueError, match=r"chunk|[Ss]hard"):
        OPERATIONS[operation]((4, 4), boxes, 2)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_empty_chunk_inside_a_full_one_is_reported_as_an_overlap(operation: str) -> None:
    with pytest.raises(ValueError, match="overlap"):
        OPERATIONS[operation]((6,), [WHOLE, INSIDE], 2)


def test_a_plan_of_one_rank_may_have_a_hole() -> None:
    dcp_plan((4, 4), [LOW], 1)
    with pytest.raises(PlanError, match="invalid fill"):
        dcp_plan((4, 4), [LOW], 2)


def test_scalars_are_not_checked_in_plans() -> None:
    dcp_plan((), [Box((), ()), Box((), ())], 2)
    with pytest.raises(ValueError, match="overlap"):
        shards_metadata((), [Box((), ()), Box((), ())], 2)


def test_chunks_with_other_axes_than_the_tensor() -> None:
    half_twice = Box((0, 0, 0), (2, 4, 2))
    dcp_plan((4, 4), [half_twice], 2)
    with pytest.raises(ValueError, match="Rank of tensor"):
        shards_metadata((4, 4), [half_twice], 2)
    with pytest.raises(IndexError):
        dcp_plan((4, 4), [Box((0,), (4,))], 2)


def test_refusals_leave_the_log_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(PlanError):
        dcp_plan((6,), [WHOLE, WHOLE], 2)
    assert not caplog.records
    assert not logging.getLogger("torch.distributed.checkpoint.default_planner").disabled


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_target_finds_refusals_of_empty_chunks(found: Tally, operation: str) -> None:
    key = f"{operation} empty-chunk: right chunks"
    assert found.counts["finding", REFUSED_RIGHT, key]
    (example,) = [f for f in found.findings(REFUSED_RIGHT) if f.key == key]
    assert "overlap" in example.words


def test_the_target_finds_the_scalars(found: Tally) -> None:
    silent = list(found.findings(SILENT))
    assert "dcp plan chunk-duplicated: an element in several chunks" in {example.key for example in silent}
    assert all(example.document["map"]["logical_shape"] == [] for example in silent)


def test_nothing_else_and_no_disagreement_of_ours(found: Tally) -> None:
    assert not found.seen(DISAGREEMENT)
    assert found.row("prover", "parameter side").keys() == {"fails", "holds"}
    assert found.row("prover", "with reference").keys() == {"refuted"}
    for operation in OPERATIONS:
        outcomes = found.row("outcome", operation)
        assert min(outcomes["refused by name"], outcomes["still exact"]) > 50
        assert found.row("inexpressible", operation)["not row-major of the parameter"] > 5


def test_replicas_are_saved_once() -> None:
    whole = piece([4], (0, [1]), (0, [1]), [0, 1])
    replicated = shard_map([4], {0: ([4], [whole]), 1: ([4], [whole])})
    tally = SMALL.run(Case(1, 0, "replicated", "none of ours", replicated, replicated, Expectation()))
    for operation in OPERATIONS:
        assert tally.counts["outcome by mutant", operation, "a right map", "still exact"] == 1


def test_the_same_cases_give_the_same_tally_also_in_another_process() -> None:
    travelled = pickle.loads(pickle.dumps(SMALL))
    assert travelled == SMALL
    assert tally_of(travelled, 60) == tally_of(SMALL, 60)
