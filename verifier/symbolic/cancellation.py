"""Do weighted views with polynomial numbers visit nothing, at every point?

Question.   W = sum of w_v * [v] over views v whose numbers are polynomials in sizes. Is W zero at all points
            that the facts describe, given that no extent is negative there?
Reduction.  As for numbers (``geometry/monomials``): multiply by 1 - x^s for every stride s and cancel signed
            monomials, whose exponents are now polynomials. What cancels as polynomials cancels at every
            point. A stride that can be 0 would make the multiplier vanish, so the points are split until
            every stride is either positive or gone.
Methods.    Axes that run into each other are merged, also where they may be empty. Exponents that are
            different polynomials and equal at all points are found by the facts. Strides beyond
            ``MOST_STRIDES`` are taken apart by hull, at boundaries read off one point: if each part fills
            the addresses between two boundaries, all fill all, wherever the boundaries lie.
Cost.       n * 2^|D| monomials for each of the few cases that zero strides make.
Hardness.   Where the points are not confined to a surface, no cancellation means that W is not zero.

Theory: T20 (soundness), T21 (what is missed).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from verifier.symbolic.claims import is_zero, not_negative, positive
from verifier.symbolic.demands import DEST, Balance
from verifier.symbolic.facts import Facts
from verifier.symbolic.layout import SymbolicView
from verifier.symbolic.polynomial import ONE, ZERO, Polynomial, atom

MOST_STRIDES = 8
"""Distinct strides that are multiplied out together."""
MOST_MONOMIALS = 100_000
MOST_CASES = 64
"""Cases that strides which may be 0 split one question into."""

Axis = tuple[Polynomial, Polynomial]
"""(stride, extent)."""


@dataclass(frozen=True, slots=True)
class NormalView:
    """A view without evident extents of 1 and without axes that run into each other."""

    offset: Polynomial
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class OpenCase:
    """Points at which a question is not settled.

    ``survivors`` are the monomials left, exponent and coefficient: the question fails at those of the points
    where they do not cancel, and only there. None when nothing can be said of any point.
    """

    facts: Facts
    reason: str
    survivors: tuple[tuple[Polynomial, int], ...] | None = None

    def concerns(self, point: Mapping[str, int]) -> bool:
        """False when the question holds at the point, as far as this case goes."""
        if not self.facts.holds_at(point):
            return False
        if self.survivors is None:
            return True
        total: Counter[tuple[int, ...]] = Counter()
        for exponent, coefficient in self.survivors:
            total[tuple([part.value(point) for part in unfolded(exponent)])] += coefficient
        return any(total.values())


@dataclass(slots=True)
class Cancellation:
    """One question under way: the cases so far, settled and open.

    ``equal`` are differences of exponents that are not the polynomial 0, and 0 at all points of some case.
    """

    cases: int = 0
    equal: list[Polynomial] = field(default_factory=list)
    open: list[OpenCase] = field(default_factory=list)

    def settle(self, terms: Counter[SymbolicView], size: Polynomial | None, facts: Facts) -> None:
        """Settle the question whether the views, minus 0..size, visit nothing at the points of the facts."""
        self.cases += 1
        if self.cases > MOST_CASES:
            self.open.append(OpenCase(facts, f"more than {MOST_CASES} cases of strides that may be 0"))
            return
        if facts.contradictory:
            return
        views: Counter[NormalView] = Counter()
        for view, weight in terms.items():
            normal = normal_view(view, facts)
            if normal is not None:
                views[normal] += weight
        views = Counter({view: weight for view, weight in views.items() if weight})
        splitting = _splitting(views, facts)
        if isinstance(splitting, str):
            self.open.append(OpenCase(facts, splitting))
        elif splitting is not None:
            self.settle(terms, size, facts.assuming(is_zero(splitting)))
            self.settle(terms, size, facts.assuming(positive(splitting)))
        else:
            self._cancel(views, None if size is None else facts.reduced(size), facts)

    def _cancel(self, views: Counter[NormalView], size: Polynomial | None, facts: Facts) -> None:
        """The same with positive strides, in parts where there are too many of them."""
        if _common_strides(views).total() <= MOST_STRIDES:
            self._cancel_part(views, None if size is None else (ZERO, size), facts)
            return
        parts = _parts(views, facts)
        bounds = [part[0] for part in parts]
        for k, (_, part) in enumerate(parts):
            target = None
            if size is not None:
                target = (bounds[k] if k else ZERO, bounds[k + 1] if k + 1 < len(parts) else size)
            self._cancel_part(part, target, facts)

    def _cancel_part(
        self, views: Counter[NormalView], target: tuple[Polynomial, Polynomial] | None, facts: Facts
    ) -> None:
        common = _common_strides(views)
        if target is not None:
            common |= Counter([ONE])
        if common.total() > MOST_STRIDES:
            self.open.append(OpenCase(facts, f"{common.total()} strides that have to be taken together"))
            return
        monomials = _survivors(views, target, common)
        if monomials is None:
            self.open.append(OpenCase(facts, f"more than {MOST_MONOMIALS} monomials"))
            return
        left = self._without_equals(monomials, facts)
        if left:
            least = ", ".join([_shown(exponent) for exponent, _ in left[:3]])
            reason = f"{len(left)} monomials do not cancel, at {least}"
            self.open.append(OpenCase(_where_left(left, facts), reason, tuple(left)))

    def _without_equals(self, left: Mapping[Polynomial, int], facts: Facts) -> list[tuple[Polynomial, int]]:
        """The monomials with those added up whose exponents are equal at all points."""
        classes: list[tuple[Polynomial, int]] = []
        for exponent, factor in left.items():
            for k, (other, sum_so_far) in enumerate(classes):
                if all(facts.entails(is_zero(part)) for part in unfolded(exponent - other)):
                    classes[k] = (other, sum_so_far + factor)
                    self.equal += [part for part in unfolded(exponent - other) if part != ZERO]
                    break
            else:
                classes.append((exponent, factor))
        return [(exponent, factor) for exponent, factor in classes if factor]


def cancel(balance: Balance, facts: Facts) -> Cancellation:
    """Try to prove a balance. It holds at all points when no case is left open.

    Theory: T20.
    """
    terms: Counter[SymbolicView] = Counter(balance.left)
    terms.subtract(Counter(balance.right))
    cancellation = Cancellation()
    cancellation.settle(Counter({v: w for v, w in terms.items() if w}), balance.size, facts)
    return cancellation


def unfolded(polynomial: Polynomial) -> tuple[Polynomial, Polynomial]:
    """The source and the dest part of a folded pair."""
    source = [term for term in polynomial.terms if DEST not in term[0]]
    dest = Polynomial(tuple([term for term in polynomial.terms if DEST in term[0]]))
    return Polynomial(tuple(source)), dest.over(1, (DEST,))


def normal_view(view: SymbolicView, facts: Facts) -> NormalView | None:
    """The view in terms of the atoms left, None when it is empty at all points.

    Merging (s, n) and (n s, m) into (s, n m) keeps the visits, also where an extent is 0, and whatever s is.
    """
    axes: list[Axis] = []
    for stride, extent in zip(view.strides[::-1], view.shape[::-1], strict=True):
        stride, extent = facts.reduced(stride), facts.reduced(extent)
        if extent == ZERO:
            return None
        if extent == ONE:
            continue
        if stride == ZERO:
            if facts.entails(is_zero(extent)):
                return None
            if facts.entails(is_zero(extent - 1)):
                continue
        if axes and stride == axes[-1][0] * axes[-1][1]:
            axes[-1] = (axes[-1][0], axes[-1][1] * extent)
        else:
            axes.append((stride, extent))
    return NormalView(facts.reduced(view.offset), tuple(sorted(_merged(axes), key=_axis_key)))


def _merged(axes: list[Axis]) -> list[Axis]:
    """No axis begins where another one ends, in any order."""
    for low in axes:
        length = low[0] * low[1]
        for high in axes:
            if high is not low and high[0] == length:
                rest = [axis for axis in axes if axis is not low and axis is not high]
                return _merged([*rest, (low[0], low[1] * high[1])])
    return axes


def _axis_key(axis: Axis) -> tuple[object, ...]:
    return axis[0].terms, axis[1].terms


def _splitting(views: Iterable[NormalView], facts: Facts) -> Polynomial | str | None:
    """What may be 0 and must not be, or why nothing helps; None when all strides are positive."""
    for view in views:
        for stride, _ in view.axes:
            if _is_positive(stride, facts):
                continue
            factor = _zero_factor(stride, facts)
            if factor is not None:
                return factor
            for _, extent in view.axes:  # an empty view may have any strides
                if (
                    not facts.entails(positive(extent))
                    and (factor := _zero_factor(extent, facts)) is not None
                ):
                    return factor
            return f"the stride {_shown(stride)} may be 0 or negative"
    return None


def _is_positive(stride: Polynomial, facts: Facts) -> bool:
    """At every point neither part is negative and one is positive, so that 1 - x^stride is not 0."""
    parts = [part for part in unfolded(stride) if part != ZERO]
    return all(facts.entails(not_negative(part)) for part in parts) and any(
        facts.entails(positive(part)) for part in parts
    )


def _zero_factor(stride: Polynomial, facts: Facts) -> Polynomial | None:
    """A polynomial that is never negative, divides the stride or a part of it, and may be 0."""
    for part in unfolded(stride):
        number, common = part.content()
        for one in common:
            if facts.least.get(one, -1) == 0:
                return atom(one)
        rest = part.over(number, common) if number else ZERO
        if rest.constant is not None or facts.entails(positive(rest)):
            continue
        if all(
            facts.least.get(one, -1) >= 0 and factor > 0
            for monomial, factor in rest.terms
            for one in monomial
        ):
            loose = [one for one in sorted(rest.atoms()) if facts.least.get(one, -1) == 0]
            if rest.degree > 1 and loose:
                return atom(loose[0])
        if facts.entails(not_negative(rest)):
            return rest
    return None


def _common_strides(views: Iterable[NormalView]) -> Counter[Polynomial]:
    common: Counter[Polynomial] = Counter()
    for view in views:
        common |= Counter([stride for stride, _ in view.axes])
    return common


def _survivors(
    views: Counter[NormalView], target: tuple[Polynomial, Polynomial] | None, common: Counter[Polynomial]
) -> dict[Polynomial, int] | None:
    """The monomials of the sum times the product of 1 - x^s over the common strides."""
    groups: dict[tuple[Polynomial, ...], dict[Polynomial, int]] = {}
    for view, weight in views.items():
        monomials = [(view.offset, weight)]
        for stride, extent in view.axes:
            length = stride * extent
            monomials += [(exponent + length, -factor) for exponent, factor in monomials]
        total = groups.setdefault(tuple([stride for stride, _ in view.axes]), defaultdict(int))
        for exponent, factor in monomials:
            total[exponent] += factor
    if target is not None:
        total = groups.setdefault((ONE,), defaultdict(int))
        total[target[0]] -= 1
        total[target[1]] += 1
    result: dict[Polynomial, int] = defaultdict(int)
    for strides, polynomial in groups.items():
        for stride in (common - Counter(strides)).elements():
            if 2 * len(polynomial) > MOST_MONOMIALS:
                return None
            polynomial = _times_one_minus(polynomial, stride)
        for exponent, factor in polynomial.items():
            result[exponent] += factor
    return {exponent: factor for exponent, factor in result.items() if factor}


def _times_one_minus(polynomial: Mapping[Polynomial, int], stride: Polynomial) -> dict[Polynomial, int]:
    product: dict[Polynomial, int] = defaultdict(int, polynomial)
    for exponent, factor in polynomial.items():
        product[exponent + stride] -= factor
    return {exponent: factor for exponent, factor in product.items() if factor}


def _where_left(left: Sequence[tuple[Polynomial, int]], facts: Facts) -> Facts:
    """The facts without the points at which an atom is 0 and everything cancels."""
    for name in facts.atoms_left():
        if facts.least.get(name) != 0:
            continue
        total: Counter[Polynomial] = Counter()
        for exponent, factor in left:
            total[exponent.substituted({name: ZERO})] += factor
        if not any(total.values()):
            facts = facts.assuming(positive(atom(name)))
    return facts


def _parts(views: Counter[NormalView], facts: Facts) -> Sequence[tuple[Polynomial, Counter[NormalView]]]:
    """The views by components of their hulls at one point, each with its lowest offset, in order.

    Any partition would be sound; this one is right wherever the components lie as they do at the point.
    """
    point = facts.found().point
    if point is None:
        return [(ZERO, views)]
    placed: list[tuple[tuple[int, ...], tuple[int, ...], NormalView]] = []
    for view in views:
        low = tuple([part.value(point) for part in unfolded(view.offset)])
        reach = sum([stride * (extent - 1) for stride, extent in view.axes], view.offset)
        placed.append((low, tuple([part.value(point) for part in unfolded(reach)]), view))
    placed.sort(key=lambda one: one[:2])
    parts: list[tuple[Polynomial, Counter[NormalView]]] = []
    highest: tuple[int, ...] = ()
    for low, high, view in placed:
        if not parts or low[0] > highest[0]:
            parts.append((view.offset, Counter()))
            highest = high
        parts[-1][1][view] = views[view]
        highest = max(highest, high)
    return parts


def _shown(polynomial: Polynomial) -> str:
    source, dest = unfolded(polynomial)
    return str(source) if dest == ZERO else f"({source}, {dest})"
