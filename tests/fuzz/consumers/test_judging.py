"""Classes of what validators do, findings, and disagreements with our prover."""

from dataclasses import replace

import pytest

from fuzz.build import piece, shard_map
from fuzz.cases import Case
from fuzz.consumers.classes import Class
from fuzz.consumers.judging import ask_prover, compare_parameter_side, key_of, record, standing_of, validated
from fuzz.consumers.strict import Attempt
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap


def whole(*starts: int) -> ShardMap:
    """Four elements on one rank, read from each start on."""
    pieces = [piece([4], (start, [1]), (4 * at, [1]), [0]) for at, start in enumerate(starts)]
    return shard_map([4], {0: ([4 * len(starts)], pieces)})


def case_of(given: ShardMap) -> Case:
    return Case(1, 7, "row", "shift-source", whole(0), given, Expectation())


def raising(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "right", "expected"),
    [
        (None, True, Class.EXACT),
        (None, False, Class.SILENT),
        (ValueError("no"), False, Class.REFUSED),
        (UnicodeError("no"), False, Class.REFUSED),
        (IndexError("no"), False, Class.RAISED),
        (ValueError("no"), True, Class.REFUSED_RIGHT),
        (IndexError("no"), True, Class.REFUSED_RIGHT),
    ],
)
def test_classes_of_a_validator(error: Exception | None, right: bool, expected: Class) -> None:
    made = validated(lambda: raising(error) if error else None, names=(ValueError,), right=right)
    assert made.klass is expected
    assert error is None or made.words == f"{type(error).__name__}: no"


@pytest.mark.parametrize(("klass", "kind"), [(Class.SILENT, SILENT), (Class.REFUSED_RIGHT, REFUSED_RIGHT)])
def test_findings_carry_the_operation_and_the_mutant(klass: Class, kind: str) -> None:
    tally = Tally()
    case = case_of(whole(1))
    key = key_of(case, "check", "odd")
    record(tally, case, "check", Attempt(klass, uninitialised=True, words="so it is"), key)
    (found,) = tally.findings(kind)
    assert (found.key, found.words) == ("check shift-source: odd", "check: so it is")
    assert dict(tally.counts) == {
        ("outcome", "check", klass.value): 1,
        ("outcome by mutant", "check", "shift-source", klass.value): 1,
        ("uninitialised", "check"): 1,
        ("finding", kind, "check shift-source: odd"): 1,
    }


@pytest.mark.parametrize("klass", [Class.EXACT, Class.REFUSED, Class.RAISED])
def test_other_outcomes_are_only_counted(klass: Class) -> None:
    tally = Tally()
    record(tally, case_of(whole(1)), "check", Attempt(klass, uninitialised=False, words=""), "key")
    assert not tally.examples
    assert tally.row("outcome", "check") == {klass.value: 1}


@pytest.mark.parametrize(("given", "disagreements"), [(whole(0), 1), (whole(1), 0)])
def test_a_proof_of_what_is_said_to_be_wrong_is_a_disagreement(given: ShardMap, disagreements: int) -> None:
    tally = Tally()
    ask_prover(tally, case_of(given), "check")
    assert tally.seen(DISAGREEMENT) == disagreements


def swapped() -> ShardMap:
    """The elements of ``whole(0)``, the last one first."""
    halves = [piece([2], (start, [1]), ((start + 2) % 4, [1]), [0]) for start in (0, 2)]
    return shard_map([4], {0: ([4], halves)})


@pytest.mark.parametrize(
    ("given", "words", "word"),
    [
        (whole(0), "a right map", "right"),
        (swapped(), "sound, but another function", "another function"),
        (whole(1), "not sound (read-bounds, uncovered)", "not sound"),
        (whole(0, 0), "not sound (repeated)", "not sound"),
    ],
)
def test_what_a_map_is(given: ShardMap, words: str, word: str) -> None:
    standing = standing_of(case_of(given))
    assert (str(standing), standing.word) == (words, word)
    assert standing.right == (word == "right")
    assert standing.sound == (word != "not sound")


def test_keys_name_the_mutant_where_there_is_one() -> None:
    case = case_of(whole(1))
    assert key_of(case, "check", "words") == "check shift-source: words"
    assert key_of(replace(case, mutant=None), "check", "words") == "check: words"


@pytest.mark.parametrize("given", [whole(0), whole(1), whole(0, 0), whole()])
@pytest.mark.parametrize("filled", [True, False])
def test_the_parameter_side_must_agree(given: ShardMap, filled: bool) -> None:
    tally = Tally()
    compare_parameter_side(tally, case_of(given), filled_once=filled)
    assert tally.seen(DISAGREEMENT) == (filled != (given == whole(0)))
