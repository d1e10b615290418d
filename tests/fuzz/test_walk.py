"""The walk on maps made by hand, where every answer can be checked by eye."""

import math
from fractions import Fraction

import pytest

from fuzz.build import piece, shard_map
from fuzz.walk import CODES, Walk, addresses, walk
from verifier.diagnostics.codes import code_of
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

SOUNDNESS = Expectation()


def run(length: int, source: int, dest: int, locations: tuple[int, ...] = (0,), scale: object = 1) -> object:
    exact = Fraction(scale) if isinstance(scale, int | Fraction) else scale
    return piece([length], (source, [1]), (dest, [1]), locations, exact)  # type: ignore[arg-type]


def one_rank(*pieces: object, numel: int = 4, shard: int = 4) -> ShardMap:
    return shard_map([numel], {0: ([shard], pieces)})  # type: ignore[dict-item]


def found(walked: Walk) -> dict[str, tuple[int, ...]]:
    return {violation.family: violation.wrong for violation in walked.violations}


def test_addresses_run_the_last_axis_fastest() -> None:
    assert addresses(StridedView(2, (2, 2), (3, 1))) == [2, 3, 5, 6]
    assert addresses(StridedView(2, (3, 2), (2, 3))) == [2, 5, 4, 7, 6, 9]
    assert addresses(StridedView(7, (), ())) == [7]
    assert addresses(StridedView(7, (0, 10**18), (1, 1))) == []
    assert addresses(StridedView(3, (2,), (-3,))) == [3, 0]


def test_a_right_map_has_no_violation() -> None:
    assert walk(one_rank(run(4, 0, 0)), SOUNDNESS).ok


def test_a_wrapped_view_is_right() -> None:
    wrapped = piece([2, 2], (0, [2, 1]), (2, [3, 1]), [0])
    rest = [run(2, 4, 0), run(1, 6, 4), run(2, 7, 7)]
    assert walk(shard_map([9], {0: ([3, 3], [wrapped, *rest])}), SOUNDNESS).ok  # type: ignore[list-item]


def test_two_columns_one_shifted() -> None:
    left = piece([4, 2], (0, [8, 1]), (0, [4, 1]), [0])
    right = piece([4, 2], (4, [8, 1]), (1, [4, 1]), [0])
    rest = piece([4, 4], (0, [8, 1]), (0, [4, 1]), [1])
    walked = walk(shard_map([4, 8], {0: ([4, 4], [left, right]), 1: ([4, 4], [rest])}), SOUNDNESS)
    assert found(walked)["overlap"] == (1, 5, 9, 13)
    assert found(walked)["hole"] == (3, 7, 11, 15)
    assert walked.least_on_shard(0) == 1
    assert walked.least_on_shard(1) is None


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([run(4, 1, 0)], {"read-bounds": (4,), "uncovered": (0,)}),
        ([run(4, 0, -1)], {"write-bounds": (-1,), "hole": (3,)}),
        ([run(2, 0, 0), run(2, 0, 2)], {"repeated": (0, 1), "uncovered": (2, 3)}),
        ([run(4, 0, 0, (0, 1))], {"holders": (0, 1, 2, 3)}),
        ([run(4, 0, 0, ())], {"holders": (0, 1, 2, 3)}),
        ([run(4, 0, 0, scale=0)], {"scale": ()}),
        ([run(4, 0, 0, scale=math.nan)], {"scale": ()}),
        ([piece([4], (3, [-1]), (0, [1]), [0])], {"sign": ()}),
        ([piece([4, 1], (0, [1, -1]), (0, [1, 0]), [0])], {"sign": ()}),
        ([piece([4, 1], (0, [1, 2**63]), (0, [1, 0]), [0])], {"width": ()}),
        ([run(4, 0, 0), piece([0], (99, [-1]), (-9, [0]), [7])], {}),
    ],
)
def test_one_rank_violations(pieces: list[object], expected: dict[str, tuple[int, ...]]) -> None:
    assert found(walk(one_rank(*pieces), SOUNDNESS)) == expected


def test_a_piece_that_meets_itself() -> None:
    walked = walk(one_rank(piece([2, 2], (0, [2, 1]), (0, [1, 1]), [0])), SOUNDNESS)
    assert found(walked) == {"overlap": (1,), "hole": (3,)}


def replicas(first: tuple[int, ...], second: tuple[int, ...], scale: int = 1) -> ShardMap:
    shards = {0: ([4], [run(4, 0, 0, first)]), 1: ([4], [run(4, 0, 0, second, scale)])}
    return shard_map([4], shards)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (replicas((0, 1), (0, 1)), {}),
        (replicas((0,), (1,)), {"holders": (0, 1, 2, 3)}),
        (replicas((0, 1), (1,)), {"holders": (0, 1, 2, 3)}),
        (replicas((0, 1), (0, 1), 2), {"scale-conflict": (0, 1, 2, 3)}),
    ],
)
def test_replicas(shape: ShardMap, expected: dict[str, tuple[int, ...]]) -> None:
    assert found(walk(shape, SOUNDNESS)) == expected


def test_replicas_may_be_cut_elsewhere() -> None:
    both = (0, 1)
    shards = {0: ([4], [run(4, 0, 0, both)]), 1: ([4], [run(1, 0, 3, both), run(3, 1, 0, both)])}
    assert walk(shard_map([4], shards), SOUNDNESS).ok  # type: ignore[arg-type]


def test_waivers_permit_holes_and_gaps_but_no_overlap() -> None:
    padded = one_rank(run(3, 0, 0))
    assert found(walk(padded, SOUNDNESS)) == {"hole": (3,), "uncovered": (3,)}
    assert walk(padded, Expectation(holes={0: (3,)}, gaps=(3,))).ok
    assert walk(padded, Expectation(holes={0: (2, 3)}, cover=False)).ok
    twice = one_rank(run(3, 0, 0), run(1, 3, 2))
    assert found(walk(twice, Expectation(holes={0: (2, 3)}))) == {"overlap": (2,)}


def test_a_lookup_table_may_repeat_but_not_leave() -> None:
    table = one_rank(run(2, 0, 0), run(2, 0, 2))
    assert walk(table, Expectation(lookup=True, reference=table)).ok
    assert found(walk(one_rank(run(4, 1, 0)), Expectation(lookup=True))) == {"read-bounds": (4,)}


def test_a_reference_is_compared_by_pairs_and_scale() -> None:
    whole = one_rank(run(4, 0, 0))
    cut = one_rank(run(1, 3, 3), run(3, 0, 0))
    swapped = one_rank(run(2, 0, 2), run(2, 2, 0))
    assert walk(cut, Expectation(reference=whole)).ok
    assert walk(swapped, Expectation(reference=whole)).least_pair(0) == (0, 0)
    assert walk(one_rank(run(4, 0, 0, scale=2)), Expectation(reference=whole)).families == {"reference"}
    assert walk(
        shard_map([2, 2], {0: ([4], whole.ranks[0].pieces)}), Expectation(reference=whole)
    ).families == {"reference"}


def test_scales_that_sum_to_one() -> None:
    def shared(*scales: Fraction) -> ShardMap:
        ranks = tuple(range(len(scales)))
        return shard_map([2], {r: ([2], [run(2, 0, 0, ranks, s)]) for r, s in enumerate(scales)})  # type: ignore[list-item]

    third = Fraction(1 / 3)
    assert third * 3 != 1
    assert walk(shared(third, third, third), Expectation(partial=True)).ok
    assert not walk(shared(third, third, third), Expectation(partial=True, sum_ulps=0)).ok
    assert walk(shared(third, third), Expectation(partial=True)).families == {"scale-rule"}
    assert walk(shared(Fraction(2)), Expectation(scale=Fraction(2))).ok
    assert walk(shared(Fraction(2)), Expectation(scale=Fraction(3))).families == {"scale-rule"}


def test_units_have_one_writer() -> None:
    shards = {0: ([3], [run(3, 0, 0)]), 1: ([3], [run(3, 3, 0, (1,))])}
    cut = shard_map([6], shards)  # type: ignore[arg-type]
    assert walk(cut, Expectation(write_unit=3)).ok
    assert walk(cut, Expectation(write_unit=2)).families == {"unit"}


def test_addresses_must_fit_their_width() -> None:
    whole = one_rank(run(4, 0, 0))
    assert walk(whole, Expectation(index_bits=3)).ok
    assert walk(whole, Expectation(index_bits=2)).families == {"width"}


def test_large_maps_are_refused() -> None:
    with pytest.raises(ValueError, match="addresses to visit"):
        walk(one_rank(numel=10**9), SOUNDNESS)


def test_the_codes_are_those_of_the_diagnostics() -> None:
    for codes in CODES.values():
        assert [code_of(code).code for code in sorted(codes)] == sorted(codes)
