"""The identity of the cancellation theorem at random points of a prime field: a filter and a digest.

A multiset of addresses is the Laurent polynomial ``sum of x^a`` over its visits. A view is a product of
geometric sums, so its value at one point costs a power and an inverse per axis, whatever the extents and
however many strides there are. Two multisets that differ somewhere give polynomials that differ; a point
where the values differ is a certain disproof. Where they agree, the difference might vanish by chance: it
is a polynomial of degree at most ``span``, so it has at most ``span`` roots among the nonzero field elements.
That is evidence, never a proof, and it is answered as Unknown.

The points of a question are hashed from the question itself. So output is reproducible and no point is fixed
in advance, but this is no protection against someone who writes many questions until one agrees at its own
points: the bound assumes that the hash does not know the question. ``fingerprint`` has to use public points,
since digests of different maps must be comparable; it is a digest against accidents, not against adversaries.

Theory: T13.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from verifier.answers import Answer, Defect, Fails, Unknown
from verifier.budget import Budget
from verifier.geometry.strided import StridedView
from verifier.obligations.questions import (
    Packing,
    PairView,
    Question,
    SameAddresses,
    SamePairs,
    Tiling,
    UnitBoundaries,
)

PRIME = 2**127 - 1
"""A Mersenne prime; the field is the integers modulo it."""

POINTS = 2
"""How many points a question is evaluated at."""

Point = tuple[int, int]
"""(x, y), both nonzero in the field; y is only used for pairs."""

_DIGEST_LABEL = b"shardproof.fingerprint/1"


@dataclass(frozen=True, slots=True)
class FingerprintEngine:
    """Refutes Tiling, SameAddresses and SamePairs with certainty; proves nothing and finds no place."""

    name: str = field(default="fingerprint", init=False)

    def decide(self, question: Question, budget: Budget) -> Answer:
        """Fails, without a place, when a point tells the sides apart; else Unknown (SM901).

        The budget is not looked at: the cost is a few powers per axis.

        Theory: T13.
        """
        match question:
            case Tiling(size, views):
                left, right = _as_pairs(views), _as_pairs([StridedView(0, (max(size, 0),), (1,))])
            case SameAddresses(left_views, right_views):
                left, right = _as_pairs(left_views), _as_pairs(right_views)
            case SamePairs(left, right):
                pass
            case Packing() | UnitBoundaries():
                reason = f"{type(question).__name__} is no identity of two polynomials"
                return Unknown("SM901", reason, self.name)
        seed = _transcript(left) + b"|" + _transcript(right)
        for point in _points(seed, POINTS):
            if _value(left, point) != _value(right, point):
                return Fails(Defect(None, None, least=False), self.name)
        return Unknown("SM901", _agreement(left + right), self.name)


def fingerprint(views: Iterable[StridedView | PairView]) -> int:
    """A digest of a multiset of addresses, or of (source, dest) pairs, that does not depend on how it is cut.

    A single address counts as a pair with dest 0. Equal multisets have equal digests. Different ones of
    span d collide with probability at most ``d / (2**127 - 2)`` over the choice of the public point, which
    is fixed: see the module.

    Theory: T13.
    """
    pairs = [view if isinstance(view, PairView) else _as_pair(view) for view in views]
    return _value(pairs, next(_points(_DIGEST_LABEL, 1)))


def _as_pair(view: StridedView) -> PairView:
    """A view with a dest that never moves: y^0 everywhere, which changes no value."""
    return PairView(view, StridedView(0, view.shape, (0,) * len(view.shape)))


def _as_pairs(views: Iterable[StridedView]) -> tuple[PairView, ...]:
    return tuple(_as_pair(view) for view in views)


def _value(pairs: Iterable[PairView], point: Point) -> int:
    """The sum of x^source y^dest over all visits, in the field."""
    x, y = point
    sums: dict[tuple[int, int, int], int] = {}
    total = 0
    for pair in pairs:
        term = _power(x, pair.source.offset) * _power(y, pair.dest.offset) % PRIME
        for axis in zip(pair.source.shape, pair.source.strides, pair.dest.strides, strict=True):
            if axis not in sums:
                extent, source, dest = axis
                sums[axis] = _geometric_sum(_power(x, source) * _power(y, dest) % PRIME, extent)
            term = term * sums[axis] % PRIME
        total += term
    return total % PRIME


def _power(base: int, exponent: int) -> int:
    """``base`` ** ``exponent`` in the field, for exponents of any size and sign."""
    return pow(base, exponent % (PRIME - 1), PRIME)


def _geometric_sum(ratio: int, extent: int) -> int:
    """1 + ratio + ... + ratio ** (extent - 1)."""
    # A ratio of 1 leaves 1 - ratio without an inverse. It does occur: x ** stride is 1 for a stride of 0.
    if ratio == 1:
        return extent % PRIME
    return (1 - _power(ratio, extent)) * pow(1 - ratio, -1, PRIME) % PRIME


def _points(seed: bytes, count: int) -> Iterator[Point]:
    """``count`` points of nonzero coordinates, hashed from the seed."""
    for k in range(count):
        digest = hashlib.shake_256(k.to_bytes(4, "big") + seed).digest(64)
        x, y = (1 + int.from_bytes(half, "big") % (PRIME - 1) for half in (digest[:32], digest[32:]))
        yield x, y


def _transcript(pairs: Iterable[PairView]) -> bytes:
    """The numbers of the pairs as text, one to one; in base 16, which has no limit on digits."""
    return ";".join(
        "/".join(
            ",".join(f"{number:x}" for number in numbers)
            for numbers in (
                (pair.source.offset, pair.dest.offset),
                pair.source.shape,
                pair.source.strides,
                pair.dest.strides,
            )
        )
        for pair in pairs
    ).encode()


def _agreement(pairs: Iterable[PairView]) -> str:
    """What agreement is worth. The bound is lost where a coefficient may be a multiple of the prime."""
    occupied = [pair for pair in pairs if not pair.source.is_empty]
    start = f"fingerprints agree at {POINTS} points"
    if sum(pair.source.numel for pair in occupied) >= PRIME:
        return f"{start} (no bound on the error: too many visits for the field); probabilistic, not a proof"
    span = sum(
        max(view.highest for view in views) - min(view.lowest for view in views)
        for views in ([pair.source for pair in occupied], [pair.dest for pair in occupied])
        if views
    )
    if span.bit_length() >= 126:
        return f"{start} (no bound on the error: addresses span the field); probabilistic, not a proof"
    # Each point errs with probability at most span / (PRIME - 1), which is below 2 ** (bits - 126).
    exponent = POINTS * (126 - span.bit_length())
    return f"{start} (error at most 2^-{exponent}); probabilistic, not a proof"
