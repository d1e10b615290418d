"""What targets share: calls of validators classed, outcomes counted, findings made, our own prover asked."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.cases import Case
from fuzz.consumers.classes import Class
from fuzz.consumers.strict import Attempt, said_by
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally, finding
from verifier.answers import Fails, Holds
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.obligations.obligation import Unposed
from verifier.obligations.parameter_side import parameter_obligations
from verifier.verdicts import Proved

BUDGET = Budget()


def validated(call: Callable[[], object], *, names: tuple[type[Exception], ...], right: bool) -> Attempt:
    """What a validator said of one map, which is right or not: it refuses by raising, its result is ignored.

    ``names`` are the exceptions that count as a refusal by name.
    """
    try:
        call()
    except Exception as error:
        by_name = Class.REFUSED if isinstance(error, names) else Class.RAISED
        return Attempt(Class.REFUSED_RIGHT if right else by_name, uninitialised=False, words=said_by(error))
    if right:
        return Attempt(Class.EXACT, uninitialised=False, words="")
    return Attempt(Class.SILENT, uninitialised=False, words="accepted though wrong")


def record(tally: Tally, case: Case, operation: str, attempt: Attempt) -> None:
    """Count an attempt; where it is a finding, note it."""
    mutant = case.mutant or "none"
    tally.count("outcome", operation, attempt.klass.value)
    tally.count("outcome by mutant", operation, mutant, attempt.klass.value)
    if attempt.uninitialised:
        tally.count("uninitialised", operation)
    kinds = {Class.SILENT: SILENT, Class.REFUSED_RIGHT: REFUSED_RIGHT}
    if attempt.klass in kinds:
        words = f"{operation}: {attempt.words}"
        tally.note(finding(case, kinds[attempt.klass], f"{operation} {mutant}", words))


def ask_prover(tally: Tally, case: Case, operation: str) -> None:
    """Note a disagreement where our prover calls a map right that is certainly wrong."""
    expectation = Expectation(reference=case.clean)
    verdict = judge(case.shard_map, expectation, Answering(engine_named("auto"), BUDGET)).verdict
    tally.count("prover", "asked about a wrong map", type(verdict).__name__.lower())
    if isinstance(verdict, Proved):
        words = f"{operation}: the map is wrong, but our prover calls it right"
        tally.note(finding(case, DISAGREEMENT, f"{operation} proved", words))


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
