"""Mutants are what their record says: sure ones are wrong, and verdicts bear their codes."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings

from fuzz import strategies
from fuzz.agreement import flattened
from fuzz.build import piece, shard_map
from fuzz.cases import Case, Selection, compose
from fuzz.layouts import LAYOUTS
from fuzz.mutants import MUTANTS, Mutant
from fuzz.walk import addresses, walk
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.diagnostics.codes import find_code
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.verdicts import Refuted

SURE = [name for name, mutant in MUTANTS.items() if mutant.sure]
AUTO = Answering(engine_named("auto"), Budget())


def mutated(name: str, count: int) -> Iterator[Case]:
    """Maps with that defect, of all layouts in turn, dressed or plain."""
    selection = Selection(mutants=(name,), size=48, right=0.0)
    layouts = list(LAYOUTS)
    for index in range(count):
        case = compose(random.Random(f"{name}/{index}"), selection, layouts[index % len(layouts)])
        if case.mutant is not None:
            yield case


@pytest.mark.parametrize("name", SURE)
def test_T18_sure_mutants_are_wrong_by_walk(name: str) -> None:
    made = list(mutated(name, 105))
    assert len(made) >= 30
    for case in made:
        assert not walk(case.shard_map, replace(case.expectation, reference=case.clean)).ok, case


@given(strategies.mutated_maps(mutants=SURE))
@settings(max_examples=60)
def test_T18_hypothesis_finds_no_sure_mutant_that_is_right(case: Case) -> None:
    assert not walk(case.shard_map, case.expectation).ok


@pytest.mark.parametrize("name", sorted({*MUTANTS} - {*SURE, "swap-sources", "swap-dest-strides"}))
def test_the_others_are_sometimes_right(name: str) -> None:
    assert any(walk(c.shard_map, replace(c.expectation, reference=c.clean)).ok for c in mutated(name, 840))


def looked_up() -> ShardMap:
    """One element is looked up by two indices of a piece, and one row by two pieces of other junk strides."""
    square = piece([2, 2], (0, [1, 1]), (0, [2, 1]), [0])
    rows = [piece([1, 3], (0, [junk, 1]), (4 + 3 * junk, [0, 1]), [0]) for junk in range(2)]
    return shard_map([3], {0: ([10], [square, *rows])})


@pytest.mark.parametrize("name", ["swap-dest-strides", "swap-sources"])
def test_T18_a_look_up_may_not_mind_an_exchange(name: str) -> None:
    table = looked_up()
    expectation = Expectation(lookup=True, reference=table)
    assert walk(table, expectation).ok
    changed = next(filter(None, (MUTANTS[name](random.Random(seed), table) for seed in range(50))))
    assert changed != table
    assert walk(changed, expectation).ok


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_verdicts_bear_the_codes_of_the_mutant(mutant: Mutant) -> None:
    """With and without a reference, consequences included; the reference is noticed wherever it can be."""
    seen: Counter[str] = Counter()
    for case in mutated(mutant.name, 63):
        for reference in (case.clean, None):
            judgement = judge(case.shard_map, replace(case.expectation, reference=reference), AUTO)
            codes = {fault.code for fault in flattened(judgement.faults) if not fault.undecided}
            assert codes <= mutant.codes, case
            if isinstance(judgement.verdict, Refuted):
                assert judgement.verdict.witness.code in mutant.codes
                seen[judgement.verdict.witness.code] += 1
    assert seen
    assert all(find_code(code) is not None for code in mutant.codes)


def test_an_accident_of_the_model_is_no_map() -> None:
    def refuse(rng: random.Random, made: ShardMap) -> ShardMap:
        raise ValueError("no map")

    one = shard_map([1], {0: ([1], [piece([1], (0, [1]), (0, [1]), [0])])})
    assert Mutant("x", refuse, sure=False, codes=frozenset())(random.Random(0), one) is None
    assert Mutant("x", lambda rng, made: made, sure=False, codes=frozenset())(random.Random(0), one) is None


def test_reflection_keeps_addresses_and_swapped_pieces_keep_the_pieces() -> None:
    for case in mutated("reflect", 42):
        for (_, _, old), (_, _, new) in zip(case.clean.pieces(), case.shard_map.pieces(), strict=True):
            assert sorted(addresses(old.source)) == sorted(addresses(new.source))
            assert sorted(addresses(old.dest)) == sorted(addresses(new.dest))
    for case in mutated("swap-pieces", 42):
        old_pieces, new_pieces = ([p for _, _, p in m.pieces()] for m in (case.clean, case.shard_map))
        assert Counter(old_pieces) == Counter(new_pieces)
