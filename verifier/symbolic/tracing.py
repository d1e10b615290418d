"""Running code on symbolic sizes, once for each way its comparisons can go.

Every run follows a script of decisions and then decides for itself: a comparison that the facts settle is
forced; at any other the run takes one side and leaves a script for the other. So the runs form a binary tree
in which each missing side was shown to hold no point, and each point of the domain belongs to exactly one
run, on which the code did what it would have done with the numbers of that point.

Theory: T19.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import ArgumentError
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

from verifier.symbolic.claims import Claim, is_zero, not_negative
from verifier.symbolic.facts import Facts
from verifier.symbolic.polynomial import Polynomial, atom, constant
from verifier.symbolic.raised import words_of
from verifier.symbolic.rewriting import Rewriting
from verifier.symbolic.size import OutsideFragmentError
from verifier.symbolic.watching import Watch

Made = TypeVar("Made")

MOST_FORKS = 400
"""Comparisons of one run that go both ways; a loop whose end depends on a size has no last one."""
MOST_DECISIONS = 20_000
"""Comparisons of one run, the forced ones included."""
MOST_REWRITES = 20
"""Times that one run is begun again."""
MOST_CLAIMS = 25_000
"""Handed to the solver for all runs of one choice; the largest constructors of the releases need 6,000."""
MOST_COMPARISONS = 50_000
"""In all runs of one choice, those that need no solver included; the largest of the releases have 2,300."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One comparison of a run.

    Attributes:
        claim: what was asked, in terms of the atoms left.
        answer: the side the run took.
        forced: True when the other side was shown to hold no point.
        facts: what is known afterwards.
    """

    claim: Claim
    answer: bool
    forced: bool
    facts: Facts


@dataclass(frozen=True, slots=True)
class Division:
    """One division of a run that brought in its quotient and remainder.

    Attributes:
        place: how many comparisons came before it.
        dividend: in terms of the atoms then left.
        divisor: a number, at least 1.
        quotient: the name of the atom.
        remainder: the name of the atom.
    """

    place: int
    dividend: Polynomial
    divisor: int
    quotient: str
    remainder: str


@dataclass(slots=True)
class Work:
    """What all runs of one choice may cost, and have."""

    most_claims: int
    comparisons: int = 0


@dataclass(frozen=True, slots=True)
class Raised:
    """The code refuses these sizes."""

    error: Exception

    @property
    def text(self) -> str:
        """The exception as one line."""
        return words_of(self.error)


@dataclass(frozen=True, slots=True)
class Left:
    """The code left the fragment, so that this run says nothing.

    ``distrusted`` is True where other runs of the same code are worth nothing either.
    """

    reason: str
    distrusted: bool = False


@dataclass(frozen=True, slots=True)
class Run(Generic[Made]):
    """What came of one way through the code.

    ``facts`` are the points that go this way.
    """

    facts: Facts
    decisions: tuple[Decision, ...]
    divisions: tuple[Division, ...]
    outcome: Made | Raised | Left


class Tracer:
    """Answers the comparisons of one run."""

    def __init__(
        self,
        facts: Facts,
        script: tuple[Decision, ...] = (),
        *,
        work: Work | None = None,
        rewriting: Rewriting | None = None,
    ) -> None:
        self.facts = facts
        self.decisions: list[Decision] = []
        self.divisions: list[Division] = []
        self.others: list[tuple[Decision, ...]] = []
        self.left: str | None = None
        self.distrusted = False
        self.watch = Watch(self.note, rewriting or Rewriting())
        self._script = script
        self.closed = False
        self._work = work

    def decide(self, claim: Claim) -> bool:
        """Whether the claim holds on this run."""
        with self._deep():
            return self._decided(claim)

    def _decided(self, claim: Claim) -> bool:
        self.require_open()
        self._require_work()
        claim = Claim(self.facts.reduced(claim.polynomial), claim.relation).simplified()
        if claim.truth is not None:
            return claim.truth
        place = len(self.decisions)
        if place < len(self._script):
            decision = self._script[place]
            if decision.claim != claim:
                self.distrusted = True
                self.leave(f"another comparison than in an earlier run: {claim}, not {decision.claim}")
        elif place == MOST_DECISIONS or len(self.others) == MOST_FORKS:
            self.leave(f"more than {len(self.others)} comparisons that go both ways in one run")
        else:
            decision = self._decision(claim)
        self.decisions.append(decision)
        self.facts = decision.facts
        return decision.answer

    def divide(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient, rounded down, and remainder."""
        with self._deep():
            return self._divided(dividend, divisor)

    def _divided(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        self._require_work()
        dividend, divisor = self.facts.reduced(dividend), self.facts.reduced(divisor)
        number = divisor.constant
        if number is None:
            return self._divide_exactly(dividend, divisor)
        if number == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        if number < 0:
            self.leave(f"division by {number}")
        return self._divide_by_number(dividend, number)

    def leave(self, reason: str) -> NoReturn:
        """Note that the run is worthless, and raise."""
        self.note(reason)
        raise OutsideFragmentError(reason)

    def note(self, reason: str) -> None:
        """Note that the run is worthless; the first reason counts."""
        self.left = self.left or reason

    def tell(self) -> None:
        """Note that a size was turned into text; what is under way is followed from here on."""
        with self.watch.paused():
            self.watch.texts.tell()

    def close(self) -> None:
        """Sizes of this run are of no use any more."""
        self.closed = True

    @property
    def is_short(self) -> bool:
        """Whether the run ended before its script did: then it remembers something of another run."""
        return self.left is None and len(self.decisions) < len(self._script)

    def require_open(self) -> None:
        """Leave where the run is over: what a constructor keeps of one run is of no use in another."""
        if self.closed:
            self.distrusted = True
            self.leave("a size that is left over from another run")

    @contextmanager
    def _deep(self) -> Iterator[None]:
        """Leave where the stack ends inside of us, since numbers need less of it; watch nothing of it."""
        try:
            with self.watch.paused():
                yield
        except (RecursionError, MemoryError, ArgumentError):  # the last is how z3 passes on the first
            self.leave("a recursion too deep for symbolic sizes")

    def _require_work(self) -> None:
        """Leave where the solver has had enough: what builds on many divisions has claims without end."""
        if self._work is None:
            return
        self._work.comparisons += 1
        if self._work.comparisons > MOST_COMPARISONS or self.facts.solver.claims > self._work.most_claims:
            self.leave("more comparisons and divisions that build on each other than the budget of the proof")

    def _decision(self, claim: Claim) -> Decision:
        for answer, side in ((True, claim), (False, claim.negation)):
            if self.facts.entails(side):
                known = self.facts.assuming(side) if side.relation == "==" else self.facts
                return Decision(claim, answer, True, known)
        other = Decision(claim, False, False, self.facts.assuming(claim.negation))
        self.others.append((*self.decisions, other))
        return Decision(claim, True, False, self.facts.assuming(claim))

    def _divide_exactly(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        quotient = dividend.divided(divisor)
        if quotient is None:
            self.leave(f"division of {dividend} by the size {divisor}")
        if self.decide(is_zero(divisor)):
            raise ZeroDivisionError("integer division or modulo by zero")
        return quotient, constant(0)

    def _divide_by_number(self, dividend: Polynomial, number: int) -> tuple[Polynomial, Polynomial]:
        """What the number divides evidently goes apart; the rest gets a quotient and a remainder."""
        whole = Polynomial(
            tuple([(monomial, factor // number) for monomial, factor in dividend.terms if factor // number])
        )
        rest = dividend - number * whole
        if not self._is_below(rest, 2 * number):
            base = rest - rest.constant_term
            text = str(base) if base == atom(str(base)) else f"({base})"  # 2*n//3 is no (2*n)//3
            quotient, remainder = atom(f"{text}//{number}"), atom(f"{text}%{number}")
            self._know_division(base, number, quotient, remainder)
            whole += self.facts.reduced(quotient)
            rest = self.facts.reduced(remainder) + rest.constant_term
        if self.decide(not_negative(rest - number)):
            return whole + 1, rest - number
        return whole, rest

    def _is_below(self, polynomial: Polynomial, limit: int) -> bool:
        """True when it is at least 0 and less than the limit at every point."""
        return self.facts.entails(not_negative(polynomial)) and self.facts.entails(
            not_negative(limit - 1 - polynomial)
        )

    def _know_division(
        self, base: Polynomial, number: int, quotient: Polynomial, remainder: Polynomial
    ) -> None:
        """Note that base = number * quotient + remainder, 0 <= remainder < number; once for each base."""
        (left,), (right,) = quotient.atoms(), remainder.atoms()
        facts = self.facts
        if left in facts.least or left in facts.solved or right in facts.solved:
            return
        self.divisions.append(Division(len(self.decisions), base, number, left, right))
        value = None if facts.point is None else base.value(facts.point)
        least = 0 if facts.entails(not_negative(base)) else None
        facts = facts.with_atom(left, least, None if value is None else value // number)
        facts = facts.with_atom(right, 0, None if value is None else value % number)
        self.facts = facts.assuming(
            not_negative(number - 1 - remainder), is_zero(base - number * quotient - remainder)
        )


def runs(
    code: Callable[[Tracer], Made], facts: Facts, rewriting: Rewriting | None = None
) -> Iterator[Run[Made]]:
    """Every way through the code, depth first.

    ``rewriting`` knows the functions of other runs of the same code.
    """
    rewriting = rewriting or Rewriting()
    work = Work(facts.solver.claims + MOST_CLAIMS)
    scripts: list[tuple[Decision, ...]] = [()]
    while scripts:
        script = scripts.pop()
        for _ in range(MOST_REWRITES):  # again, where functions were met whose code is to be exchanged
            tracer = Tracer(facts, script, work=work, rewriting=rewriting)
            with rewriting.exchanged():
                outcome = _outcome(code, tracer)
            tracer.close()
            if not rewriting.prepare():
                break
        scripts += tracer.others
        yield Run(tracer.facts, tuple(tracer.decisions), tuple(tracer.divisions), outcome)


def _outcome(code: Callable[[Tracer], Made], tracer: Tracer) -> Made | Raised | Left:
    """What came of one run."""
    outcome: Made | Raised | Left
    try:
        with tracer.watch.running():
            outcome = code(tracer)
    except OutsideFragmentError as error:
        outcome = Left(str(error))
    except (RecursionError, MemoryError):  # of this process, and no answer for these sizes
        outcome = Left("a recursion too deep for symbolic sizes")
    except Exception as error:  # whatever the constructor raises is its answer for these sizes
        outcome = Raised(error)
    if tracer.is_short:
        outcome = Left("fewer comparisons than in an earlier run", distrusted=True)
    if tracer.watch.texts.told and not isinstance(outcome, Raised | Left):
        outcome = Left("the text of a size, as in str(size) or a name with it: it may decide what is built")
    return outcome if tracer.left is None else Left(tracer.left, tracer.distrusted)
