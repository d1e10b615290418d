"""Pairs of views that are hard to tell apart, with the answer known by construction or by listing.

Five families, twelve pairs each, always the same ones:

* coprime: two long axes with unrelated strides, moved to the last place where they miss, or one further;
* knapsack: indices have to sum up to the Frobenius number of the strides (impossible), or to the next number;
* near critical: about as many index tuples as addresses, so that neither answer is likely;
* parity: strides 2^a + 2^b + 1 over 0/1 indices, where every branch looks promising to the end [Todd1980];
* residue: strides with a common divisor that the offset misses.

[Todd1980] as described by Chvatal 1980, Hard knapsack problems, doi 10.1287/opre.28.6.1402.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from verifier.geometry.strided import StridedView

Term = tuple[int, int]
"""(stride, extent)."""


@dataclass(frozen=True, slots=True)
class HardPair:
    family: str
    left: StridedView
    right: StridedView
    meets: bool


def pair_with_sum(terms: Sequence[Term], total: int) -> tuple[StridedView, StridedView]:
    """Two views that meet exactly where ``terms`` sum up to ``total``; the second takes every other term."""
    left, right = terms[::2], terms[1::2]
    lowest = total - sum(stride * (extent - 1) for stride, extent in right)
    return _view(0, left), _view(lowest, right)


def _view(offset: int, terms: Sequence[Term]) -> StridedView:
    return StridedView(offset, tuple(n for _, n in terms), tuple(s for s, _ in terms))


def meets_by_listing(terms: Sequence[Term], total: int) -> bool:
    """Whether the terms can sum up to ``total``, by listing the sums of each view."""
    below = sums(terms[::2])
    return any(total - rest in below for rest in sums(terms[1::2]))


def frobenius(coefficients: Sequence[int]) -> int:
    """The greatest number that is no sum of the coefficients, whose gcd is 1.

    Shortest paths over the residues of the least coefficient: the least sum in each class.
    """
    least, *others = sorted(coefficients)
    distance = {0: 0}
    queue = [(0, 0)]
    done: set[int] = set()
    while queue:
        length, residue = heapq.heappop(queue)
        if residue in done:
            continue
        done.add(residue)
        for step in others:
            reached = length + step
            if reached < distance.get(reached % least, reached + 1):
                distance[reached % least] = reached
                heapq.heappush(queue, (reached, reached % least))
    return max(distance.values()) - least


def sums(terms: Iterable[Term]) -> set[int]:
    """Every sum of the terms, listed."""
    reached = {0}
    for stride, extent in terms:
        reached = {low + stride * i for low in reached for i in range(extent)}
    return reached


def coprime_pairs(rng: random.Random, count: int) -> list[HardPair]:
    pairs = []
    for k in range(count):
        a, b = rng.choice(((7, 11), (101, 103), (9_973, 10_007), (999_983, 1_000_003)))
        beyond = a * b - a - b  # the greatest number that is no sum of a and b
        extent = rng.randint(2 * max(a, b), 10_000_000)
        left, right = pair_with_sum([(a, extent), (b, extent)], beyond + k % 2)
        pairs.append(HardPair("coprime", left, right, meets=bool(k % 2)))
    return pairs


def knapsack_pairs(rng: random.Random, count: int) -> list[HardPair]:
    pairs = []
    for k in range(count):
        size = 5 + k % 4
        middle = rng.randint(10_000, 40_000)
        # Multiples of one number, one off: the Frobenius number is far out, as in published hard knapsacks.
        coefficients = sorted({middle * rng.randint(1, 7) + rng.choice((-1, 0, 1)) for _ in range(size)})
        while len(coefficients) < size or math.gcd(*coefficients) > 1:
            coefficients = sorted({*coefficients, middle * rng.randint(1, 7) + rng.choice((-1, 1))})
        total = frobenius(coefficients) + (1 if k % 3 == 2 else 0)
        terms = [(c, total // c + 1) for c in coefficients]
        left, right = pair_with_sum(terms, total)
        pairs.append(HardPair("knapsack", left, right, meets=k % 3 == 2))
    return pairs


def near_critical_pairs(rng: random.Random, count: int) -> list[HardPair]:
    pairs = []
    for k in range(count):
        axes, extent = ((4, 256), (6, 40), (8, 16), (10, 8), (12, 4), (12, 6))[k % 6]
        # As many tuples as the sums reach, roughly.
        scale = extent**axes // (axes * (extent - 1) // 2)
        terms = [(rng.randint(scale // 2, scale), extent) for _ in range(axes)]
        reach = sum(stride * (extent - 1) for stride, _ in terms)
        total = rng.randint(reach // 3, 2 * reach // 3)
        left, right = pair_with_sum(terms, total)
        pairs.append(HardPair("near-critical", left, right, meets_by_listing(terms, total)))
    return pairs


def parity_pairs(rng: random.Random, count: int) -> list[HardPair]:
    pairs = []
    for k in range(count):
        axes = 4 + (2 * k) % 10
        shift = (2 * axes).bit_length() - 1
        terms = [(2 ** (shift + axes + 1) + 2 ** (shift + j) + 1, 2) for j in range(1, axes + 1)]
        total = sum(stride for stride, _ in terms) // 2 + rng.randint(0, 1)
        left, right = pair_with_sum(terms, total)
        pairs.append(HardPair("parity", left, right, meets_by_listing(terms, total)))
    return pairs


def residue_pairs(rng: random.Random, count: int) -> list[HardPair]:
    pairs = []
    for k in range(count):
        divisor = rng.choice((2, 3, 64, 4_096))
        terms = [(divisor * rng.randint(10, 1_000_000), rng.randint(2, 1_000)) for _ in range(4 + k % 9)]
        reach = sum(stride * (extent - 1) for stride, extent in terms)
        total = reach // 2 // divisor * divisor + rng.randint(1, divisor - 1)
        left, right = pair_with_sum(terms, total)
        pairs.append(HardPair("residue", left, right, meets=False))
    return pairs


@cache
def hard_pairs() -> tuple[HardPair, ...]:
    """The sixty pairs."""
    rng = random.Random(20240607)
    families = (coprime_pairs, knapsack_pairs, near_critical_pairs, parity_pairs, residue_pairs)
    return tuple(itertools.chain.from_iterable(family(rng, 12) for family in families))
