"""The proof of a constructor: for every size of a domain, or the smallest sizes at which it fails.

Question.   Is the map that a constructor makes sound, and the same function as the reference's, for all sizes
            of a domain?
Methods.    Run it on symbolic sizes, each way once (``tracing``); settle every demand on each map formally
            (``proof``); where something is left open, look for the smallest failure (``search``); where there
            is none, say up to where all is right.
Trust.      On every way a few points are tried with plain numbers: the constructor must do there what the
            symbolic run says, or no way is believed. So code that looks at types or clocks is noticed.

Theory: T19, T20, T21.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from inspect import signature
from itertools import islice

from verifier.symbolic.certificate import Certificate, End, ProvedChoice, Way
from verifier.symbolic.concrete import Concrete, Constructor, Judge
from verifier.symbolic.demands import Demand, demands, reference_demands
from verifier.symbolic.domain import DomainError, Sizes
from verifier.symbolic.facts import Facts
from verifier.symbolic.paths import ProvedPath, Refusal, condition
from verifier.symbolic.proof import settle
from verifier.symbolic.results import ProvedForAll, ProvedOnPart, RefutedAt, Result, Undecided
from verifier.symbolic.rewriting import Rewriting
from verifier.symbolic.search import Failure, Limits, Search, Searched, Unproved, reasons
from verifier.symbolic.solver import LinearSolver
from verifier.symbolic.tracing import Left, Raised, Run, runs
from verifier.symbolic.ways import Maps, Outside, PreconditionError, RaisesAlone, difference, traced

GENERAL = (2, 3, 5, 7, 11, 13, 17, 19)
"""What sizes are first tried with: different, so that little holds by accident."""

MOST_NAMED = 3
"""Comparisons by which a way is named."""


class ContradictoryDomainError(DomainError):
    """The precondition admits no sizes at all; a proof would say nothing."""


@dataclass(slots=True)
class _Choice:
    """One choice under way."""

    concrete: Concrete
    solver: LinearSolver
    rewriting: Rewriting
    ways: list[Way] = field(default_factory=list)
    paths: list[ProvedPath] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    unproved: list[Unproved] = field(default_factory=list)
    distrust: str | None = None
    possible: bool = False


def prove_constructor(
    constructor: Constructor,
    over: Sizes,
    *,
    judge: Judge,
    reference: Constructor | None = None,
    limits: Limits | None = None,
) -> Result:
    """Prove a constructor for all sizes of a domain, or refute it at the smallest ones.

    ``constructor`` and ``reference`` are called with the arguments of the domain by name. ``judge`` is the
    concrete prover. Choices are taken in order, and the first that fails is reported.

    Raises:
        ContradictoryDomainError: the precondition admits no sizes.
        DomainError: the precondition raises, or the constructor does not take the arguments of the domain.
    """
    limits = limits or Limits()
    for taking in filter(None, (constructor, reference)):
        _require_arguments(taking, over)
    solver, rewriting = LinearSolver(), Rewriting()
    done: list[_Choice] = []
    searched: list[tuple[_Choice, Searched]] = []
    for values in over.choices():
        concrete = Concrete(constructor, reference, over, values, judge)
        choice = _explored(_Choice(concrete, solver, rewriting), limits)
        done.append(choice)
        if choice.unproved:
            found = Search(concrete, over.atoms(values), choice.unproved, limits).run()
            if isinstance(found, Failure):
                return _refuted(choice, found, done)
            searched.append((choice, found))
    return _unrefuted(done, searched, solver)


def _require_arguments(constructor: Constructor, over: Sizes) -> None:
    """Refuse a domain that is no call of the constructor.

    Raises:
        DomainError: as said.
    """
    try:
        signature(constructor).bind(**over.arguments)
    except TypeError as error:
        raise DomainError(f"the constructor and its domain do not fit: {error}") from None
    except ValueError:  # nothing is known of how it is called
        return


def _explored(choice: _Choice, limits: Limits) -> _Choice:
    """Every way through the constructor under one choice."""
    over, values = choice.concrete.over, choice.concrete.choice
    facts = Facts({}, choice.solver, point={})
    for k, one in enumerate(over.atoms(values)):
        facts = facts.with_atom(one.name, one.least, one.least + GENERAL[k % len(GENERAL)])
    ways = runs(lambda tracer: traced(choice.concrete, tracer), facts, choice.rewriting)
    for run in islice(ways, limits.ways):
        end = _judge(choice, run)
        if end is not None:
            choice.ways.append(Way(run.decisions, run.divisions, run.facts.named, end))
    if next(ways, None) is not None:
        choice.unproved.append(Unproved(facts, f"more than {limits.ways} ways through the constructor"))
    if choice.distrust is not None:  # then no way can be believed
        nothing = [Unproved(facts, choice.distrust)]
        return _Choice(choice.concrete, choice.solver, choice.rewriting, unproved=nothing, possible=True)
    return choice


def _judge(choice: _Choice, run: Run[Maps | RaisesAlone | Outside]) -> End | None:
    """File one way under what came of it, which is nothing that was proved where it is None."""
    outcome = run.outcome
    if isinstance(outcome, Raised) and isinstance(outcome.error, PreconditionError):
        raise DomainError(str(outcome.error)) from outcome.error.__cause__
    if run.facts.contradictory:
        return "nothing"
    facts = run.facts.found()
    choice.possible = choice.possible or not isinstance(outcome, Outside)
    if isinstance(outcome, Left):
        choice.distrust = choice.distrust or (outcome.reason if outcome.distrusted else None)
        choice.unproved.append(Unproved(facts, outcome.reason + _where(run)))
        return None
    if isinstance(outcome, RaisesAlone):
        reason = f"raises {outcome.text}, but its reference makes a map"
        choice.unproved.append(Unproved(facts, reason + _where(run)))
        return None
    differs = difference(choice.concrete, facts, outcome)
    if differs is not None:
        choice.distrust = choice.distrust or differs
        return None
    if isinstance(outcome, Outside):
        return "outside"
    if isinstance(outcome, Raised):
        sizes, text = None, outcome.text
        if facts.point is not None:  # then in the words that these sizes get
            sizes = choice.concrete.arguments(facts.point)
            text = choice.concrete.refusal(facts.point) or text
        choice.refusals.append(Refusal(choice.concrete.choice, condition(run.decisions), text, sizes))
        return "raises"
    settled, left = settle(_demands(outcome), facts)
    if left:
        cases = tuple([case for one in left for case in one.cases])
        choice.unproved.append(Unproved(facts, left[0].reason + _where(run), cases))
        return None
    path = ProvedPath(choice.concrete.choice, run.decisions, facts, outcome.made, outcome.reference, settled)
    choice.paths.append(path)
    return path


def _where(run: Run[Maps | RaisesAlone | Outside]) -> str:
    """The way, where few words say which."""
    claims = condition(run.decisions)
    return f", where {' and '.join(map(str, claims))}" if 0 < len(claims) <= MOST_NAMED else ""


def _demands(maps: Maps) -> Iterator[Demand]:
    yield from demands(maps.made)
    if maps.reference is not None:
        yield from reference_demands(maps.made, maps.reference)


def _refuted(choice: _Choice, found: Failure, done: list[_Choice]) -> RefutedAt:
    return RefutedAt(
        choice.concrete.arguments(found.point),
        found.wrong.made,
        found.wrong.verdict,
        found.wrong.complaint,
        found.least,
        tuple([refusal for one in done for refusal in one.refusals]),
    )


def _unrefuted(done: list[_Choice], searched: list[tuple[_Choice, Searched]], solver: LinearSolver) -> Result:
    """What is left to say when no choice was refuted."""
    paths = tuple([path for choice in done for path in choice.paths])
    refusals = tuple([refusal for choice in done for refusal in choice.refusals])
    empty = tuple([choice.concrete.choice for choice in done if not choice.possible])
    if len(empty) == len(done):
        raise ContradictoryDomainError("the precondition admits no sizes")
    if searched:
        return _partly(paths, refusals, searched)
    if not paths:
        return Undecided("the constructor raises for all sizes", refusals)
    if all(path.facts.point is None for path in paths):
        return Undecided("no sizes were found that the precondition admits", refusals)
    choices = tuple(
        [
            ProvedChoice(
                one.concrete.choice, tuple(one.concrete.over.atoms(one.concrete.choice)), tuple(one.ways)
            )
            for one in done
            if one.paths
        ]
    )
    certificate = Certificate(choices, tuple(solver.contradictions))
    return ProvedForAll(paths, refusals, empty, certificate)


def _partly(
    paths: tuple[ProvedPath, ...], refusals: tuple[Refusal, ...], searched: list[tuple[_Choice, Searched]]
) -> ProvedOnPart | Undecided:
    unproved = [way for choice, _ in searched for way in choice.unproved]
    reason = reasons(unproved)
    refusals = (*refusals, *[refusal for _, found in searched for refusal in found.raised])
    right = sum(found.right for _, found in searched)
    parts: list[str] = []
    for choice, found in searched:
        if found.unsure is not None:
            return Undecided(f"{reason}; of small sizes: {found.unsure}", refusals)
        if found.most < sum(one.least for one in choice.concrete.over.atoms(choice.concrete.choice)):
            return Undecided(reason, refusals)
        where = ", ".join([f"{name}={value!r}" for name, value in choice.concrete.choice.items()])
        parts.append(f"{where}{': ' if where else ''}sizes that add up to at most {found.most}")
    if refusals and not paths and not right:
        return Undecided(f"{reason}; it raises for all small sizes", refusals)
    if paths:
        parts.append(f"all sizes on {len(paths)} way{'s' * (len(paths) > 1)} through the constructor")
    outside = not all(way.cases for way in unproved)
    return ProvedOnPart("; ".join(parts), reason, right, outside, paths, refusals)
