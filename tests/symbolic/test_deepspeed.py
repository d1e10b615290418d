"""The constructors of the installed release, unmodified, for all sizes."""

from __future__ import annotations

import random

import pytest

from tests.counting import calls_at_most
from tests.downstream.deepspeed_affine import affine, autoep
from tests.symbolic.deepspeed_domains import CONSTRUCTORS, CUT, experts
from tests.symbolic.judging import judge, outcome, proved, walks
from verifier import Expectation, map_from_affine
from verifier.symbolic.demands import Balance, demands
from verifier.symbolic.domain import Sizes, fixed, size
from verifier.symbolic.grid import fills_grid
from verifier.symbolic.results import ProvedForAll, RefutedAt
from verifier.verdicts import Proved, Refuted

DEGREES = (1, 2, 3, 4, 8)
PLACES = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 2), (4, 0), (4, 3)]
MOST_CLAIMS = 12_000
"""That the solver is asked about in one proof; the longest takes 6,000."""


def claims_asked(found: ProvedForAll) -> int:
    """All that the solver was asked about, each time anew."""
    return max(path.facts.solver.claims for path in found.paths)


@pytest.mark.parametrize("name", CONSTRUCTORS)
@pytest.mark.parametrize(("axes", "dim"), PLACES)
def test_proved_for_all_sizes_under_its_precondition(name: str, axes: int, dim: int) -> None:
    for degree in DEGREES:
        constructor, over, _ = CONSTRUCTORS[name](axes, dim, degree)
        found = proved(constructor, over)
        assert claims_asked(found) < MOST_CLAIMS
        rng = random.Random(degree)
        assert sum(walks(path, 3, rng) for path in found.paths) >= len(found.paths)


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_what_is_proved_walks_right_at_hundreds_of_sizes(name: str) -> None:
    rng = random.Random(name)
    constructor, over, _ = CONSTRUCTORS[name](3, 1, 3)
    found = proved(constructor, over)
    assert sum(walks(path, 200 // len(found.paths), rng) for path in found.paths) >= 150


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize(("axes", "dim"), [(1, 0), (2, 1), (4, 3)])
def test_without_its_precondition_refuted_at_the_smallest_sizes(name: str, axes: int, dim: int) -> None:
    constructor, _, without = CONSTRUCTORS[name](axes, dim, 4)
    found = outcome(constructor, without)
    assert isinstance(found, RefutedAt)
    assert found.least
    total = _total(found.sizes)
    assert total == axes  # one width or block too many, the other dimensions 1
    assert isinstance(found.verdict, Refuted)
    assert found.made is not None


def _total(value: object) -> int:
    """The sum of the symbolic sizes: shape and widths, block and segments."""
    sizes = value if isinstance(value, dict) else {}
    names = (
        "shape",
        "per_rank_sizes",
        "sub_dim_sizes",
        "shard_widths",
        "block_size",
        "segments",
        "split_widths",
    )
    return sum(_sum(sizes[name]) for name in names if name in sizes)


def _sum(value: object) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_sum, value))
    return value if type(value) is int else 0


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize(("axes", "dim"), [(1, 0), (2, 0), (2, 1), (4, 3)])
def test_T22_boxes_on_the_grid_prove_the_same_tilings(name: str, axes: int, dim: int) -> None:
    constructor, over, _ = CONSTRUCTORS[name](axes, dim, 8)
    (path,) = proved(constructor, over).paths
    tilings = [one for one in demands(path.made) if isinstance(one, Balance) and one.size is not None]
    assert len(tilings) == 9
    assert all(fills_grid(tiling, path.facts) for tiling in tilings)


def test_what_the_release_checks_itself_is_a_refusal() -> None:
    constructor, over, _ = CONSTRUCTORS["segmented"](2, 0, 2)
    found = proved(constructor, over)
    assert len(found.refusals) == 2
    for refusal in found.refusals:
        assert "do not account for a segment" in refusal.error
        assert refusal.sizes is not None
        with pytest.raises(ValueError, match="do not account"):
            constructor(**refusal.sizes)


def test_the_check_inside_the_lowering_of_experts_runs_on_sizes_too() -> None:
    constructor, over, _ = experts(3, 0, 4)
    found = proved(constructor, over)
    claims = {str(claim) for condition in found.conditions for claim in condition}
    assert any("logical_shape[1]" in claim for claim in claims)
    assert not found.refusals


def test_64_experts_on_8_ranks() -> None:
    held = [[expert for expert in range(64) if expert % 8 == rank] for rank in range(8)]
    descriptor = autoep().make_autoep_placement_descriptor(64, held)
    over = Sizes(descriptor=fixed(descriptor), logical_shape=(64, size(), size()))
    with calls_at_most(3_000_000):
        found = proved(autoep().autoep_placement_to_affine_map, over)
    assert claims_asked(found) < MOST_CLAIMS


def test_the_release_is_not_touched() -> None:
    constructor, over, _ = CONSTRUCTORS["fused"](2, 0, 2)
    before = dict(vars(affine()))
    proved(constructor, over)
    assert dict(vars(affine())) == before
    assert "int" not in vars(affine())


def test_refuted_sizes_fail_in_the_concrete_prover_and_smaller_ones_do_not() -> None:
    constructor, _, without = CONSTRUCTORS["contiguous"](2, 1, 2)
    found = outcome(constructor, without)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"shape": (1, 0), "per_rank_sizes": [0, 1], "partition_dim": 1}
    verdict = judge(map_from_affine(constructor(**found.sizes).to_dict(), name="w"), Expectation())
    assert isinstance(verdict, Refuted)
    for smaller in ({"shape": (0, 0), "per_rank_sizes": [0, 1]}, {"shape": (1, 0), "per_rank_sizes": [0, 0]}):
        made = constructor(**smaller, partition_dim=1)
        assert isinstance(judge(map_from_affine(made.to_dict(), name="w"), Expectation()), Proved)
