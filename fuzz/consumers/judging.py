"""What targets share: what a map is, calls of validators classed, findings made, our own prover asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuzz.cases import Case
from fuzz.consumers.classes import A_RIGHT_MAP, Class
from fuzz.consumers.strict import Attempt, refusal
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally, finding
from fuzz.walk import Family, walk
from verifier.answers import Fails, Holds
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.obligation import Unposed
from verifier.obligations.parameter_side import parameter_obligations
from verifier.verdicts import Proved

BUDGET = Budget()
FINDINGS = {Class.SILENT: SILENT, Class.REFUSED_RIGHT: REFUSED_RIGHT}


@dataclass(frozen=True, slots=True)
class Standing:
    """What a map is by itself and against the map before its defect, as ``str`` says in a few words.

    Attributes:
        families: the conditions that it violates; "reference" where it is another function.
    """

    families: frozenset[Family]

    @property
    def right(self) -> bool:
        """Whether it is sound, and the same function."""
        return not self.families

    @property
    def sound(self) -> bool:
        """Whether it is right for a reader who knows of no other map."""
        return self.families <= {"reference"}

    @property
    def word(self) -> str:
        """One of three."""
        if self.sound:
            return "right" if self.right else "another function"
        return "not sound"

    def __str__(self) -> str:
        if self.sound:
            return A_RIGHT_MAP if self.right else "sound, but another function"
        return f"not sound ({', '.join(sorted(self.families - {'reference'}))})"


def standing_of(case: Case) -> Standing:
    """What the map of a case is, without whatever its expectation may waive or ask."""
    return Standing(walk(case.shard_map, Expectation(reference=case.clean)).families)


def validated(call: Callable[[], object], *, names: tuple[type[Exception], ...], right: bool) -> Attempt:
    """What a validator said of one map, which is right or not: it refuses by raising, its result is ignored.

    ``names`` are the exceptions that count as a refusal by name.
    """
    try:
        call()
    except Exception as error:
        return refusal(error, by_name=isinstance(error, names), right=right)
    return accepted("accepted though wrong", right=right)


def accepted(words: str, *, right: bool) -> Attempt:
    """A validator had no objection; the words are for a map that is wrong."""
    if right:
        return Attempt(Class.EXACT, uninitialised=False, words="")
    return Attempt(Class.SILENT, uninitialised=False, words=words)


def key_of(case: Case, operation: str, words: str) -> str:
    """The key of findings about one operation and one mutant which are the same in those words."""
    return f"{operation}: {words}" if case.mutant is None else f"{operation} {case.mutant}: {words}"


def record(tally: Tally, case: Case, operation: str, attempt: Attempt, key: str) -> None:
    """Count an attempt; where it is a finding, note it."""
    tally.count("outcome", operation, attempt.klass.value)
    tally.count("outcome by mutant", operation, case.mutant or A_RIGHT_MAP, attempt.klass.value)
    if attempt.uninitialised:
        tally.count("uninitialised", operation)
    note(tally, case, operation, attempt, key)


def note(tally: Tally, case: Case, operation: str, attempt: Attempt, key: str) -> None:
    """The finding of an attempt, where it is one."""
    kind = FINDINGS.get(attempt.klass)
    if kind is not None:
        tally.note(finding(case, kind, key, f"{operation}: {attempt.words}"))


def ask_prover(tally: Tally, case: Case, *operations: str) -> None:
    """Note a disagreement where our prover proves a wrong map, which these operations took silently."""
    word = proven(case.shard_map, case.clean)
    tally.count("prover", "with reference", word)
    if word == Proved.__name__.lower():
        for operation in operations:
            words = f"{operation}: the map is wrong, but our prover proves it"
            tally.note(finding(case, DISAGREEMENT, f"proved, but wrong in {operation}", words))


def proven(shard_map: ShardMap, reference: ShardMap | None) -> str:
    """Our verdict on a map in a word, "proved", "refuted" or "undecided"."""
    answering = Answering(engine_named("auto"), BUDGET)
    return type(judge(shard_map, Expectation(reference=reference), answering).verdict).__name__.lower()


def compare_parameter_side(tally: Tally, case: Case, *, filled_once: bool) -> None:
    """Note a disagreement where our prover and a walk of the boxes differ on the parameter of a map.

    Both look at the pieces that the least of their locations holds. They hold when these fill the parameter,
    each element once.
    """
    (obligation,) = [o for o in parameter_obligations(case.shard_map, Expectation()) if o.name == "parameter"]
    if isinstance(obligation.question, Unposed):
        return
    answer = engine_named("auto").decide(obligation.question, BUDGET)
    tally.count("prover", "parameter side", type(answer).__name__.lower())
    if isinstance(answer, Fails if filled_once else Holds):
        said = "filled once" if filled_once else "not filled once"
        words = f"the parameter is {said} by a walk of its boxes, but our {answer.engine} says otherwise"
        tally.note(finding(case, DISAGREEMENT, "parameter side", words))
