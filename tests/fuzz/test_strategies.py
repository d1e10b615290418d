"""Strategies give what they say, and their examples shrink to something one sees through."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from fuzz import strategies
from fuzz.build import piece
from fuzz.cases import Case, Selection
from fuzz.layouts import LAYOUTS
from fuzz.walk import walk
from fuzz.weight import weight
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.engines.registry import engine_named
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap
from verifier.verdicts import Refuted, Undecided

AUTO = Answering(engine_named("auto"), Budget())
SEARCH = settings(
    max_examples=300,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@given(strategies.right_maps())
@settings(max_examples=80)
def test_right_maps_meet_their_expectation(posed: tuple[ShardMap, Expectation]) -> None:
    shard_map, expectation = posed
    assert walk(shard_map, expectation).ok
    assert shard_map.numel <= strategies.SIZE


@given(st.data(), st.sampled_from(sorted(LAYOUTS)))
@settings(max_examples=60)
def test_a_layout_and_a_size_are_kept_to(data: st.DataObject, layout: str) -> None:
    case = data.draw(strategies.cases(Selection(layouts=(layout,), size=12)))
    assert case.layout == layout
    assert case.clean.numel <= 12 or layout in ("wrapped", "coprime-dests")
    assert (case.mutant is None) == (case.shard_map == case.clean)


@given(strategies.mutated_maps(mutants=("drop-piece", "swap-ranks")))
@settings(max_examples=60)
def test_mutated_maps_have_one_of_the_defects_and_the_clean_map_as_reference(case: Case) -> None:
    assert case.mutant in ("drop-piece", "swap-ranks")
    assert case.expectation.reference == case.clean != case.shard_map


@given(strategies.right_maps(size=24), st.data())
@settings(max_examples=80)
def test_expectations_are_judged_as_they_are_walked(
    posed: tuple[ShardMap, Expectation], data: st.DataObject
) -> None:
    expectation = data.draw(strategies.expectations(posed[0]))
    verdict = judge(posed[0], expectation, AUTO).verdict
    assert isinstance(verdict, Undecided) or isinstance(verdict, Refuted) != walk(posed[0], expectation).ok


@given(strategies.strided_views(max_axes=2, max_extent=3, max_offset=5, max_stride=4))
@settings(max_examples=50)
def test_views_keep_to_their_bounds(view: StridedView) -> None:
    assert len(view.shape) <= 2
    assert all(extent <= 3 for extent in view.shape)
    assert view.is_empty or 0 <= view.lowest <= view.highest <= 5 + 2 * 2 * 4


def _code(case: Case) -> str | None:
    verdict = judge(case.shard_map, case.expectation, AUTO).verdict
    return verdict.witness.code if isinstance(verdict, Refuted) else None


@pytest.mark.parametrize(
    ("code", "pieces", "elements"),
    [("SM201", 3, 2), ("SM101", 1, 1), ("SM105", 1, 2)],
)
def test_the_least_map_of_a_code_is_tiny(code: str, pieces: int, elements: int) -> None:
    found = find(strategies.mutated_maps(size=16), lambda case: _code(case) == code, settings=SEARCH)
    assert weight(found.shard_map)[0] <= pieces
    assert weight(found.shard_map)[1] == 1
    assert found.clean.numel <= elements


@pytest.mark.parametrize(
    ("strategy", "condition", "least"),
    [
        (strategies.strided_views(), lambda view: not view.is_empty, StridedView(0, (), ())),
        (strategies.strided_views(negative=True), lambda v: v.offset < 0, StridedView(-1, (), ())),
        (strategies.pieces(), lambda p: bool(p.locations), piece([], (0, []), (0, []), [0])),
    ],
)
def test_views_and_pieces_shrink_to_the_least(
    strategy: st.SearchStrategy[StridedView | Piece],
    condition: Callable[[StridedView | Piece], bool],
    least: StridedView | Piece,
) -> None:
    assert find(strategy, condition, settings=SEARCH) == least


@pytest.mark.parametrize("layout", ["column", "padded", "scaled", "lookup"])
def test_the_least_right_map_of_a_layout_is_plain(layout: str) -> None:
    found, _ = find(strategies.right_maps(layouts=(layout,)), lambda posed: True, settings=SEARCH)
    pieces, ranks, _, numbers = weight(found)
    assert (pieces <= 1, ranks) == (True, 1)
    assert numbers <= 20, found


def test_the_least_column_split_over_two_ranks() -> None:
    found, _ = find(
        strategies.right_maps(layouts=("column",)),
        lambda posed: all(p.numel for _, _, p in posed[0].pieces()) and len(posed[0].ranks) == 2,
        settings=SEARCH,
    )
    assert found.numel == 2
    assert sorted(found.ranks) == [0, 1]
    assert [p.numel for _, _, p in found.pieces()] == [1, 1]
