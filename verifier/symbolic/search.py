"""Small sizes first: where an open case may fail, ask the concrete prover.

Points are listed by the sum of all sizes, and among equal sums in the order of the arguments, so the first
one that fails is the least. What a formal proof or the survivors of a cancellation show to be right is not
asked again. When the search ends without a failure, all points up to some sum are right: a stated part.

Theory: T20 (what survivors say of one point).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verifier.symbolic.cancellation import OpenCase
from verifier.symbolic.concrete import Concrete, Excluded, Raises, Right, Unsure, Wrong
from verifier.symbolic.domain import Atom
from verifier.symbolic.facts import Facts
from verifier.symbolic.paths import Refusal
from verifier.symbolic.polynomial import ZERO, Polynomial, atom
from verifier.symbolic.raised import words_of

Point = Mapping[str, int]

MOST_UNSEEN = 4_096
"""A sum of sizes up to which code is run at a point although nothing is known of what it does there."""
MOST_SHRINKS = 400
"""Points that are tried to make one failure small."""
MOST_REASONS = 3
"""Kinds of reasons that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much work one choice may cost, in counts.

    Attributes:
        ways: through the constructor, those that the precondition excludes included.
        points: that are listed in a search.
        judged: points that are put to the concrete prover.
        total: the greatest sum of sizes that is listed.
    """

    ways: int = 2_000
    points: int = 60_000
    judged: int = 1_500
    total: int = 64


@dataclass(frozen=True, slots=True)
class Unproved:
    """A way through the constructor with open cases; none when nothing is known of any of its points."""

    facts: Facts
    reason: str
    cases: tuple[OpenCase, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A point that fails; ``least`` as in ``RefutedAt``."""

    point: Point
    wrong: Wrong
    least: bool


@dataclass(frozen=True, slots=True)
class Searched:
    """No failure among the points whose sizes sum to at most ``most``.

    Attributes:
        right: how many maps the concrete prover proved.
        unsure: why it did not decide one of them.
        raised: how the constructor refuses sizes, one example for each kind of exception.
    """

    most: int
    right: int
    unsure: str | None
    raised: tuple[Refusal, ...] = ()


class _Spent(Exception):  # noqa: N818 - no error: the budget of a search
    pass


@dataclass(slots=True)
class Search:
    """One search through the points of some ways."""

    concrete: Concrete
    atoms: Sequence[Atom]
    unproved: Sequence[Unproved]
    limits: Limits
    listed: int = 0
    judged: int = 0
    right: int = 0
    unsure: str | None = None
    raised: dict[str, Refusal] = field(default_factory=dict)

    def run(self) -> Failure | Searched:
        """The least failure that the budget lets find, or how far it went."""
        done = -1
        try:
            for total in range(sum(one.least for one in self.atoms), self.limits.total + 1):
                for point in self._points(total):
                    wrong = self._wrong(point)
                    if wrong is not None:
                        return Failure(point, wrong, least=self.unsure is None)
                done = total
                if not self.atoms:
                    break
        except _Spent:
            pass
        return self._somewhere() or Searched(done, self.right, self.unsure, tuple(self.raised.values()))

    @property
    def _names(self) -> list[str]:
        return [one.name for one in self.atoms]

    def _wrong(self, point: Point) -> Wrong | None:
        if self.judged == self.limits.judged:
            raise _Spent
        opinion = self.concrete.opinion(point)
        self.judged += not isinstance(opinion, Excluded)
        self.right += isinstance(opinion, Right)
        if isinstance(opinion, Unsure):
            self.unsure = opinion.reason
        if isinstance(opinion, Raises):
            self._note(point, opinion.error)
        return opinion if isinstance(opinion, Wrong) else None

    def _note(self, point: Point, error: Exception) -> None:
        if type(error).__name__ not in self.raised:
            text = words_of(error)
            refusal = Refusal(self.concrete.choice, None, text, self.concrete.arguments(point))
            self.raised[type(error).__name__] = refusal

    def _points(self, total: int) -> list[dict[str, int]]:
        """The points of one sum that may fail, in the order of the arguments."""
        found: dict[tuple[int, ...], dict[str, int]] = {}
        for way in self.unproved:
            for point in self._of_way(way, total):
                own = {name: point[name] for name in self._names}
                found[tuple(own.values())] = own
        return [found[key] for key in sorted(found)]

    def _of_way(self, way: Unproved, total: int) -> Iterator[Point]:
        """The points of one sum at which a way may fail, some of them more than once."""
        for case in way.cases or (OpenCase(way.facts, way.reason),):
            listing = _Listing.of(case.facts, self.atoms)
            if listing is None:  # then the sizes themselves, which may go another way
                for sizes in compositions(total, [one.least for one in self.atoms]):
                    self._count()
                    yield dict(zip(self._names, sizes, strict=True))
                continue
            for values in listing.of_sum(total):
                self._count()
                point = case.facts.completed(values)
                if point is not None and case.concerns(point):
                    yield point

    def _count(self) -> None:
        self.listed += 1
        if self.listed > self.limits.points:
            raise _Spent

    def _somewhere(self) -> Failure | None:
        """A failure at a point that the solver finds, made small in place.

        Where the symbolic run left the fragment, the code may take as long as its sizes are large.
        """
        for way in self.unproved:
            for case in way.cases or (OpenCase(way.facts, way.reason),):
                point = case.facts.found().point
                if point is None or (not way.cases and self._sum(point) > MOST_UNSEEN):
                    continue
                opinion = self.concrete.opinion(point)
                if isinstance(opinion, Wrong):
                    return self._shrunk(way.facts, point, opinion)
        return None

    def _sum(self, point: Point) -> int:
        return sum([point[name] for name in self._names])

    def _shrunk(self, facts: Facts, point: Point, wrong: Wrong) -> Failure:
        """The failure with sizes as small as they get one by one: on its way first, then on any other."""
        left = {name: facts.least[name] for name in point if name not in facts.solved and name in facts.least}
        own = {one.name: one.least for one in self.atoms}
        spent = [MOST_SHRINKS]
        point, wrong = self._smaller(left, point, wrong, facts.completed, spent)
        point = {name: point[name] for name in self._names}
        return Failure(*self._smaller(own, point, wrong, dict, spent), least=False)

    def _smaller(
        self,
        least: Mapping[str, int],
        point: Point,
        wrong: Wrong,
        completed: Callable[[Point], Point | None],
        spent: list[int],
    ) -> tuple[Point, Wrong]:
        """A failure at which no atom can be decreased by as much as is tried; ``spent`` is what is left."""
        smaller = True
        while smaller:
            smaller = False
            for name, low in least.items():
                step = point[name] - low
                while step > 0 and spent[0] > 0:
                    spent[0] -= 1
                    tried = completed({**point, name: point[name] - step})
                    opinion = None if tried is None else self.concrete.opinion(tried)
                    if tried is not None and isinstance(opinion, Wrong):
                        point, wrong, smaller = tried, opinion, True
                        break
                    step //= 2
        return point, wrong


@dataclass(frozen=True, slots=True)
class _Listing:
    """The atoms left, all of which a sum of sizes bounds: sizes themselves, or terms of a growing sum."""

    names: tuple[str, ...]
    least: tuple[int, ...]
    most: tuple[int | None, ...]
    own: tuple[bool, ...]
    total: Polynomial
    growing: bool

    @classmethod
    def of(cls, facts: Facts, atoms: Sequence[Atom]) -> _Listing | None:
        """None where a sum does not bound the atoms left."""
        total = facts.reduced(sum([atom(one.name) for one in atoms], ZERO))
        names = facts.atoms_left()
        if any(facts.least.get(one, -1) < 0 for one in names):
            return None
        sizes = {one.name for one in atoms}
        growing = all(factor > 0 for monomial, factor in total.terms if monomial)
        alone = {monomial[0] for monomial, _ in total.terms if len(monomial) == 1} if growing else set()
        if not all(name in sizes or name in alone for name in names):
            return None
        least = tuple([facts.least[name] for name in names])
        most = tuple([facts.most.get(name) for name in names])
        return cls(tuple(names), least, most, tuple([name in sizes for name in names]), total, growing)

    def of_sum(self, total: int) -> Iterator[dict[str, int]]:
        """Every choice of values under which the sizes have this sum."""
        values = dict(zip(self.names, self.least, strict=True))
        spare = total - sum([least for least, own in zip(self.least, self.own, strict=True) if own])
        if spare >= 0:
            yield from self._from(0, values, total, spare)

    def _from(self, first: int, values: dict[str, int], total: int, spare: int) -> Iterator[dict[str, int]]:
        """Those with some of the atoms from the ``first`` one on increased; sizes by at most ``spare``."""
        reached = self.total.value(values)
        if reached == total:
            yield dict(values)
        if self.growing and reached > total:
            return
        for place in range(first, len(self.names)):
            name, own, most = self.names[place], self.own[place], self.most[place]
            if (own and spare == 0) or values[name] == most:
                continue
            values[name] += 1
            yield from self._from(place, values, total, spare - own)
            values[name] -= 1


def compositions(total: int, least: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All lists of numbers from their least ones on with this sum, ascending."""
    if not least:
        if total == 0:
            yield ()
        return
    first, *rest = least
    for value in range(first, total - sum(rest) + 1):
        for others in compositions(total - value, rest):
            yield (value, *others)


def reasons(unproved: Iterable[Unproved]) -> str:
    """One of each kind of reason, a few kinds, and how many more ways there are."""
    own = [way.reason for way in unproved]
    kinds: dict[str, str] = {}
    for reason in own:
        kinds.setdefault(reason.partition(", where ")[0], reason)
    shown = list(kinds.values())[:MOST_REASONS]
    more = len(own) - len(shown)
    return "; ".join(shown) + (f" (and {more} more)" if more else "")
