from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import count
from threading import local

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.walk import walk
from tests.symbolic.judging import judge, outcome, proved, walks
from tests.symbolic.planted import chunked_rows, split_columns, strides
from verifier import Expectation, Piece, RankShard, ShardMap, StridedView
from verifier.symbolic.constructor import ContradictoryDomainError, prove_constructor
from verifier.symbolic.domain import DomainError, Sizes, fixed, size, sizes
from verifier.symbolic.encode_sizes import certificate_text
from verifier.symbolic.results import ProvedForAll, ProvedOnPart, RefutedAt, Undecided
from verifier.symbolic.search import Limits


def cut(width: int, starts: list[int], lengths: list[int]) -> ShardMap:
    """One axis, rank r holding ``lengths[r]`` from ``starts[r]`` on."""
    shards = {
        rank: RankShard(
            (length,),
            (Piece(StridedView(start, (length,), (1,)), StridedView(0, (length,), (1,)), (rank,)),),
        )
        for rank, (start, length) in enumerate(zip(starts, lengths, strict=True))
    }
    return ShardMap(name="w", logical_shape=(width,), ranks=shards)


def halves(n: int) -> ShardMap:
    return cut(n, [0, n // 2], [n // 2, n - n // 2])


def test_a_contradictory_precondition_is_an_error_and_no_proof() -> None:
    with pytest.raises(ContradictoryDomainError):
        outcome(halves, Sizes(n=size(), where=lambda n: n > 3 and n < 2))
    with pytest.raises(ContradictoryDomainError):
        outcome(halves, Sizes(n=size(least=1), where=lambda n: 2 * n % 2 == 1))
    with pytest.raises(ContradictoryDomainError):
        outcome(lambda n, k: halves(n), Sizes(n=size(), k=[1, 2], where=lambda n, k: n * k < 0))


def test_a_choice_without_sizes_is_listed() -> None:
    found = proved(lambda n, k: halves(n), Sizes(n=size(), k=[1, 2], where=lambda k: k == 2))
    assert found.empty == ({"k": 1},)
    assert [path.choice for path in found.paths] == [{"k": 2}]


def test_sizes_that_raise_are_listed_with_their_condition() -> None:
    def even(n: int) -> ShardMap:
        if n % 2:
            raise ValueError("odd")
        return halves(n)

    found = proved(even, Sizes(n=size()))
    (refusal,) = found.refusals
    assert refusal.error == "ValueError: odd"
    assert refusal.sizes is not None
    assert refusal.sizes["n"] % 2 == 1
    assert [str(claim) for claim in refusal.condition] == ["n%2 != 0"]


def test_a_constructor_that_always_raises_is_not_proved() -> None:
    def never(n: int) -> ShardMap:
        raise NotImplementedError

    found = outcome(never, Sizes(n=size()))
    assert isinstance(found, Undecided)
    assert "raises for all sizes" in found.reason


def test_what_the_model_refuses_counts_as_raised() -> None:
    found = proved(lambda n: cut(3, [0, n], [n, 3 - n]), Sizes(n=size()))
    (refusal,) = found.refusals
    assert refusal.error == "ValueError: negative extent at axis 0; write 0 for an empty block"
    assert [str(claim) for claim in refusal.condition] == ["n >= 4"]


def test_a_negative_extent_in_the_plain_form_is_refuted() -> None:
    def plain(n: int) -> dict[str, object]:
        def shard(rank: int, start: int, length: int) -> dict[str, object]:
            view = [start, [1]]
            piece = {"shape": [length], "source": view, "dest": [0, [1]], "locations": [rank]}
            return {"shard_shape": [length], "pieces": [piece]}

        return {"logical_shape": [3], "ranks": {0: shard(0, 0, n), "1": shard(1, n, 3 - n)}}

    found = outcome(plain, Sizes(n=size()))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 4}
    assert found.made is None
    assert "negative" in found.complaint
    proved(plain, Sizes(n=size(), where=lambda n: n <= 3))


def test_a_reference_is_run_on_the_same_sizes() -> None:
    over = Sizes(rows=size(), columns=size())
    proved(chunked_rows, over, reference=partial(chunked_rows, ranks=3))
    found = outcome(chunked_rows, over, reference=partial(chunked_rows, ranks=2))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"rows": 0, "columns": 0}  # they differ in ranks


def test_the_least_sizes_at_which_a_reference_differs() -> None:
    def other(rows: int, columns: int) -> ShardMap:
        return chunked_rows(rows, columns) if columns < 3 else chunked_rows(rows, columns, "ceil one too far")

    found = outcome(other, Sizes(rows=size(), columns=size()), reference=chunked_rows)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"rows": 3, "columns": 3}
    assert found.least


def test_a_reference_that_raises_is_no_agreement() -> None:
    def picky(rows: int, columns: int) -> ShardMap:
        if rows == 4:
            raise ValueError("not four")
        return chunked_rows(rows, columns)

    found = outcome(chunked_rows, Sizes(rows=size(), columns=size()), reference=picky)
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"rows": 4, "columns": 0}
    assert "the reference raises" in found.complaint


def piecewise(n: int) -> ShardMap:
    """Each element a piece: ``range`` needs the number."""
    view = [StridedView(k, (1,), (1,)) for k in range(n)]
    return ShardMap(
        name="w", logical_shape=(n,), ranks={0: RankShard((n,), tuple([Piece(v, v, (0,)) for v in view]))}
    )


def test_what_is_outside_the_fragment_is_proved_on_a_stated_part() -> None:
    found = outcome(piecewise, Sizes(n=size()), limits=Limits(total=20))
    assert isinstance(found, ProvedOnPart)
    assert found.part == "sizes that add up to at most 20"
    assert found.judged == 21
    assert "range" in found.reason


def test_a_failure_outside_the_fragment_is_found_too() -> None:
    def forgetful(n: int) -> ShardMap:
        return piecewise(n) if n < 7 else cut(n, [0], [len(range(n)) - 1])

    found = outcome(forgetful, Sizes(n=size()))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 7}
    assert found.least


def test_choices_that_are_proved_and_parts_are_told_apart() -> None:
    found = outcome(
        lambda n, way: halves(n) if way == "all" else piecewise(n),
        Sizes(n=size(), way=["all", "part"]),
        limits=Limits(total=10),
    )
    assert isinstance(found, ProvedOnPart)
    assert (
        found.part
        == "way='part': sizes that add up to at most 10; all sizes on 1 way through the constructor"
    )


def test_too_many_ways_are_no_proof() -> None:
    found = outcome(chunked_rows, Sizes(rows=size(), columns=size()), limits=Limits(ways=2, total=8))
    assert isinstance(found, ProvedOnPart)
    assert "more than 2 ways" in found.reason


def test_nothing_right_is_proved_of_a_constructor_that_looks_at_types() -> None:
    def sniffing(n: int) -> ShardMap:
        return halves(n) if type(n).__name__ != "int" else cut(n, [0], [n + 1])

    found = outcome(sniffing, Sizes(n=size()))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 0}


def test_one_way_that_differs_from_numbers_discredits_all_ways() -> None:
    kept = local()  # what it keeps is not seen
    kept.calls = -1

    def moody(n: int) -> ShardMap:
        if n > 100:  # no small size shows it
            return halves(n)
        kept.calls += 1
        return halves(n) if kept.calls == 0 else cut(n, [0, n - n // 2], [n - n // 2, n // 2])

    found = outcome(moody, Sizes(n=size()), limits=Limits(total=12))
    assert isinstance(found, ProvedOnPart)
    assert not found.paths
    assert "differ" in found.reason


@pytest.mark.parametrize(
    "decides",
    [
        lambda n: str(n) == "123",
        lambda n: f"{n}" == "123",
        lambda n: repr(n) == "123",
        lambda n: "%s" % n == "123",  # noqa: UP031 - one more way to make text
        lambda n: "{}".format(n) == "123",  # noqa: UP032 - as above
        lambda n: len(str([n])) > 4,
    ],
)
def test_text_of_a_size_is_no_proof(decides: Callable[[object], bool]) -> None:
    def sniffing(n: int) -> ShardMap:
        return cut(n, [1, n // 2], [n // 2, n - n // 2]) if decides(n) else halves(n)

    found = outcome(sniffing, Sizes(n=size()), limits=Limits(total=12))
    assert isinstance(found, ProvedOnPart)
    assert "the text of a size" in found.reason


def test_text_in_an_error_message_is_harmless() -> None:
    def strict(n: int) -> ShardMap:
        if n < 0:
            raise ValueError(f"n is {n}")
        return halves(n)

    assert isinstance(outcome(strict, Sizes(n=size())), ProvedForAll)


def test_what_only_numbers_have_is_no_proof() -> None:
    def sniffing(n: int) -> ShardMap:
        wrong = hasattr(n, "bit_length") and n == 505
        return cut(n, [1, n // 2], [n // 2, n - n // 2]) if wrong else halves(n)

    found = outcome(sniffing, Sizes(n=size()), limits=Limits(total=12))
    assert isinstance(found, ProvedOnPart)
    assert "bit_length of a size" in found.reason


def test_a_size_says_that_it_is_an_int() -> None:
    def sniffing(n: int) -> ShardMap:
        wrong = n.__class__.__name__ == "int" and n == 505
        return cut(n, [1, n // 2], [n // 2, n - n // 2]) if wrong else halves(n)

    assert not isinstance(outcome(sniffing, Sizes(n=size())), ProvedForAll | ProvedOnPart)


def test_a_precondition_may_ask_for_types_and_not_for_texts() -> None:
    assert isinstance(outcome(halves, Sizes(n=size(), where=lambda n: type(n) is int or n < 5)), ProvedForAll)
    found = outcome(
        halves, Sizes(n=size(), where=lambda n: len(str(n)) == 1 or n < 5), limits=Limits(total=6)
    )
    assert isinstance(found, ProvedOnPart)
    assert "the text of a size" in found.reason


def test_a_constructor_that_counts_its_calls_is_not_proved() -> None:
    calls = count()

    def counting(n: int) -> ShardMap:
        return halves(n) if next(calls) < 1 else cut(n, [0], [n + 1])

    assert not isinstance(outcome(counting, Sizes(n=size())), ProvedForAll)


def test_what_is_returned_and_no_map_is_refuted() -> None:
    found = outcome(lambda n: [n], Sizes(n=size()))
    assert isinstance(found, RefutedAt)
    assert found.made is None
    assert "no map" in found.complaint


def test_far_failures_are_found_where_a_formal_proof_points_at_them() -> None:
    def late(n: int) -> ShardMap:
        return halves(n) if n < 1_000_000 else cut(n, [0, n // 2], [n // 2, n // 2 - 1])

    found = outcome(late, Sizes(n=size()))
    assert isinstance(found, RefutedAt)
    assert found.sizes["n"] >= 1_000_000
    assert not found.least


def test_locations_scales_and_replicas() -> None:
    def replicated(n: int, locations: tuple[int, ...], scale: float) -> dict[str, object]:
        piece = {"shape": [n], "source": [0, [1]], "dest": [0, [1]], "locations": locations, "scale": scale}
        shard = {"shard_shape": [n], "pieces": [piece]}
        return {"logical_shape": [n], "ranks": {0: shard, 1: shard}}

    proved(replicated, Sizes(n=size(), locations=fixed((0, 1)), scale=0.5))
    for locations, scale in (((0,), 1.0), ((0, 1, 2), 1.0), ((0, 1), 0.0), ((0, 1), float("inf")), ((), 1.0)):
        found = outcome(replicated, Sizes(n=size(), locations=fixed(locations), scale=scale))
        assert isinstance(found, RefutedAt), (locations, scale)
        assert found.sizes["n"] == 1
        proved(replicated, Sizes(n=size(), locations=fixed(locations), scale=scale, where=lambda n: n == 0))


def test_replicas_that_hold_other_elements_than_they_say() -> None:
    def shifted(n: int, by: int) -> dict[str, object]:
        def shard(first: int) -> dict[str, object]:
            parts = [
                {"shape": [n], "source": [start, [1]], "dest": [dest, [1]], "locations": [0, 1]}
                for start, dest in ((first, 0), (n - first, n))
            ]
            return {"shard_shape": [2 * n], "pieces": parts}

        return {"logical_shape": [2 * n], "ranks": {0: shard(0), 1: shard(by)}}

    proved(shifted, Sizes(n=size(), by=0))
    found = outcome(shifted, Sizes(n=size(), by=size()))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"n": 1, "by": 2}  # at 1 and 1 the two pieces of rank 1 are exchanged


def test_a_reference_of_another_shape_is_another_parameter() -> None:
    def shaped(rows: int, columns: int) -> ShardMap:
        whole = StridedView(0, (rows * columns,), (1,))
        shard = RankShard((rows * columns,), (Piece(whole, whole, (0,)),))
        return ShardMap(name="w", logical_shape=(rows, columns), ranks={0: shard})

    over = Sizes(rows=size(), columns=size())
    proved(shaped, over, reference=shaped)
    found = outcome(shaped, over, reference=lambda rows, columns: shaped(columns, rows))
    assert isinstance(found, RefutedAt)
    assert found.sizes == {"rows": 0, "columns": 1}
    proved(
        shaped,
        Sizes(rows=size(), columns=size(), where=lambda rows, columns: rows == columns),
        reference=lambda rows, columns: shaped(columns, rows),
    )


def test_domains_are_read_as_written() -> None:
    over = Sizes(
        shape=(size(), 3, size(least=2)),
        widths=sizes("ranks"),
        ranks=[1, 2],
        table=fixed([7]),
        where=lambda shape: True,
    )
    assert list(over.choices()) == [{"ranks": 1}, {"ranks": 2}]
    assert [atom.name for atom in over.atoms({"ranks": 2})] == [
        "shape[0]",
        "shape[2]",
        "widths[0]",
        "widths[1]",
    ]
    filled = over.filled({"ranks": 1}, lambda name, least: least)
    assert filled == {"shape": (0, 3, 2), "widths": [0], "ranks": 1, "table": [7]}


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (lambda: Sizes(n=size(), where=lambda m: True), "where asks for m"),
        (lambda: Sizes(n=[]), "without a value"),
        (lambda: size(least=-1), "sizes are from 0"),
        (lambda: list(Sizes(n=sizes("k")).atoms({})), "number of sizes"),
        (lambda: outcome(halves, Sizes(m=size())), "do not fit"),
        (lambda: outcome(halves, Sizes(n=size(), where=lambda n: n[0])), "where raises TypeError"),
    ],
)
def test_malformed_domains_are_refused_by_name(domain: Callable[[], object], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        domain()


def test_the_same_question_has_the_same_answer() -> None:
    over = Sizes(rows=size(), columns=size())
    first, second = proved(split_columns, over), proved(split_columns, over)
    texts = [[certificate_text("w", one) for one in found.certificate.choices] for found in (first, second)]
    assert texts[0] == texts[1]
    assert first.certificate.queries() == second.certificate.queries()


@st.composite
def constructors(draw: st.DrawFn) -> Callable[[int, int], ShardMap]:
    """A cut into two or three parts by bounds that are right or nearly so."""
    ranks = draw(st.integers(2, 3))
    rule = draw(st.sampled_from(("chunk", "floor", "given", "minimum", "guarded")))
    slip = draw(st.sampled_from((0, 0, 0, 1, -1)))
    at = draw(st.integers(1, ranks - 1))
    axis = draw(st.integers(0, 1))

    def bounds(n: int, k: int) -> list[int]:
        if rule == "chunk":
            step = -(-n // ranks)
            return [min(rank * step, n) for rank in range(ranks)] + [n]
        if rule == "floor":
            return [rank * (n // ranks) for rank in range(ranks)] + [n]
        if rule == "given":
            return [0, *[min(n, rank * k) for rank in range(1, ranks)], n]
        if rule == "minimum":
            return [0, *[max(0, n - (ranks - rank) * k) for rank in range(1, ranks)], n]
        return [0, *[rank * k if (ranks - 1) * k <= n else 0 for rank in range(1, ranks)], n]

    def build(n: int, k: int) -> ShardMap:
        edges = bounds(n, k)
        shape = (n, k) if axis == 0 else (k, n)
        full, shards = strides(shape), {}
        for rank in range(ranks):
            low, high = edges[rank], edges[rank + 1]
            held = (high - low, k) if axis == 0 else (k, high - low)
            start = (low + (slip if rank == at else 0)) * full[axis]
            piece = Piece(StridedView(start, held, full), StridedView(0, held, strides(held)), (rank,))
            shards[rank] = RankShard(held, (piece,))
        return ShardMap(name="w", logical_shape=shape, ranks=shards)

    return build


@settings(max_examples=60, deadline=None)
@given(constructors())
def test_random_constructors_are_judged_as_a_listing_of_small_sizes_judges_them(
    constructor: Callable[[int, int], ShardMap],
) -> None:
    found = outcome(constructor, Sizes(n=size(), k=size()))
    small = sorted(((n, k) for n in range(9) for k in range(9)), key=lambda pair: (sum(pair), pair))
    wrong = [pair for pair in small if not walk(constructor(*pair), Expectation()).ok]
    if isinstance(found, RefutedAt):
        assert (found.sizes["n"], found.sizes["k"]) == wrong[0]
    else:
        assert isinstance(found, ProvedForAll)
        assert not wrong
        assert sum(walks(path, 5, random.Random(0)) for path in found.paths) > 0


def test_the_judge_decides_what_counts_as_wrong() -> None:
    asked: list[ShardMap] = []

    def listening(shard_map: ShardMap, expectation: Expectation):
        asked.append(shard_map)
        return judge(shard_map, expectation)

    assert isinstance(prove_constructor(halves, Sizes(n=size()), judge=listening), ProvedForAll)
    assert not asked
    prove_constructor(lambda n: cut(n, [0], [n + 1]), Sizes(n=size()), judge=listening)
    assert len(asked) == 1
