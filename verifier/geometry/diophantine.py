"""Do two strided views share an address? Does one view visit an address twice? By which indices?

Question.   A = {a + <s, i> : 0 <= i < n},  B = {b + <t, j> : 0 <= j < m}. Give (i, j) with equal
            addresses, or say why there are none.
Reduction.  Axes of extent 1 and stride 0 cannot move an address and are dropped. What is left is one
            bounded linear equation <s, i> - <t, j> = b - a.
            Two visits by one view differ by y != 0 with <s, y> = 0, |y_k| < n_k. Let k be the greatest stride
            with y_k != 0, and y_k > 0: one bounded equation for each k.
Methods.    Those of ``equations.py``: hull, residue, bounded search; or a solver handed in.
Cost.       That of the equation. A view with K axes asks at most K equations about itself, none where each
            stride exceeds the span of the lesser ones.
Families.   Row and column cuts end at hull or residue, interleaved heads at residue. Only mixed strides
            reach the search.
References. Ramachandran 2006, doi 10.1007/11792086_14.

Theory: T2, T14.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from verifier.geometry.equations import (
    METHODS,
    Apart,
    Method,
    Solver,
    Term,
    TooHard,
    Values,
    linear_form,
    search,
)
from verifier.geometry.strided import StridedView

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Meet:
    """Index ``left`` of the first view and ``right`` of the second reach one address."""

    left: Index
    right: Index
    nodes: int


Meeting = Meet | Apart | TooHard


def meeting(left: StridedView, right: StridedView, *, nodes: int) -> Meeting:
    """Whether two views share an address, within a budget of search nodes.

    Theory: T14.
    """
    return meeting_by(left, right, lambda form, total: search(form, total, nodes))


def meeting_by(left: StridedView, right: StridedView, solve: Solver) -> Meeting:
    """Whether two views share an address, as ``solve`` decides it."""
    if left.is_empty or right.is_empty:
        return Apart("empty", 0)
    left_axes = _moving_axes(left)
    right_axes = _moving_axes(right)
    terms = tuple(
        [(left.strides[k], left.shape[k] - 1) for k in left_axes]
        + [(-right.strides[k], right.shape[k] - 1) for k in right_axes]
    )
    form = linear_form(terms)
    found = solve(form, right.offset - left.offset + form.shift)
    if not isinstance(found, Values):
        return found
    values = form.lift(found.values)
    split = len(left_axes)
    return Meet(
        _index(len(left.shape), left_axes, values[:split]),
        _index(len(right.shape), right_axes, values[split:]),
        found.nodes,
    )


def revisit_by(view: StridedView, solve: Solver) -> Meeting:
    """Two different indices, the lesser first, by which a view reaches one address; Apart if it is injective.

    The equations are decided by ``solve``.

    Theory: T14.
    """
    if view.is_empty:
        return Apart("empty", 0)
    for k, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if stride == 0 and extent > 1:
            return Meet(*_indices_apart(view, {k: 1}), 0)
    axes = sorted(_moving_axes(view), key=lambda k: (abs(view.strides[k]), k))
    spent, hard = 0, False
    methods: set[Method] = {"hull"}
    lesser: list[Term] = []
    span = 0
    for position, k in enumerate(axes):
        stride, last = abs(view.strides[k]), view.shape[k] - 1
        if span >= stride:  # else no difference along the lesser strides makes up for one step along this one
            form = linear_form(tuple([*lesser, (stride, last - 1)] if last > 1 else lesser))
            found = solve(form, span - stride)
            spent += found.nodes
            match found:
                case Values():
                    values = form.lift(found.values)
                    steps = {j: values[m] - (view.shape[j] - 1) for m, j in enumerate(axes[:position])}
                    steps[k] = 1 + (values[position] if last > 1 else 0)
                    return Meet(*_indices_apart(view, steps), spent)
                case TooHard():
                    hard = True
                case Apart(method):
                    methods.add(method)
        lesser.append((stride, 2 * last))
        span += stride * last
    return TooHard(spent) if hard else Apart(max(methods, key=METHODS.index), spent)


def _indices_apart(view: StridedView, steps: dict[int, int]) -> tuple[Index, Index]:
    """Two indices that differ by ``steps`` along the axes taken as if their strides were positive."""
    up, down = [0] * len(view.shape), [0] * len(view.shape)
    for k, step in steps.items():
        step = -step if view.strides[k] < 0 else step
        up[k], down[k] = max(step, 0), max(-step, 0)
    lesser, greater = sorted((tuple(up), tuple(down)))
    return lesser, greater


def _moving_axes(view: StridedView) -> list[int]:
    return [k for k, extent in enumerate(view.shape) if extent > 1 and view.strides[k] != 0]


def _index(rank: int, axes: list[int], values: list[int]) -> Index:
    index = [0] * rank
    for k, value in zip(axes, values, strict=True):
        index[k] = value
    return tuple(index)


def indices_at(view: StridedView, address: int, *, limit: int, nodes: int) -> tuple[Index, ...] | TooHard:
    """The index tuples by which a view reaches an address, in lexicographic order, at most ``limit`` of them.

    Theory: T14.
    """
    rest = address - view.offset
    if view.is_empty or limit <= 0:
        return ()
    axes = _Axes.of(view)
    if not axes.may_hold(0, rest):
        return ()
    rank = len(view.shape)
    if rank == 0:
        return ((),)
    found: list[Index] = []
    dead: set[tuple[int, int]] = set()
    index = [0] * rank
    # One entry per axis on the path: what is left to reach, candidates to come, solutions known on entry.
    path: list[tuple[int, Iterator[int], int]] = [(rest, iter(axes.candidates(0, rest)), 0)]
    spent = 0
    while path:
        level = len(path) - 1
        rest, candidates, before = path[-1]
        value = next(candidates, None)
        remainder = rest - view.strides[level] * (value or 0)
        # Along an axis of stride 0 all candidates leave the same remainder: one dead end settles them all.
        if value is None or (view.strides[level] == 0 and (level + 1, remainder) in dead):
            if len(found) == before:
                dead.add((level, rest))
            path.pop()
            continue
        if spent >= nodes:
            return TooHard(spent)
        spent += 1
        index[level] = value
        if level + 1 == rank:
            found.append(tuple(index))
            if len(found) == limit:
                break
        elif (level + 1, remainder) not in dead:
            path.append((remainder, iter(axes.candidates(level + 1, remainder)), len(found)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a view in their own order, each with the hull and the gcd of the axes after it."""

    view: StridedView
    lows: tuple[int, ...]
    highs: tuple[int, ...]
    gcds: tuple[int, ...]

    @classmethod
    def of(cls, view: StridedView) -> _Axes:
        lows, highs, gcds = [0], [0], [0]
        for extent, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
            reach = stride * (extent - 1)
            lows.append(lows[-1] + min(reach, 0))
            highs.append(highs[-1] + max(reach, 0))
            gcds.append(math.gcd(gcds[-1], stride) if extent > 1 else gcds[-1])
        return cls(view, tuple(reversed(lows)), tuple(reversed(highs)), tuple(reversed(gcds)))

    def may_hold(self, level: int, rest: int) -> bool:
        """False when the axes from ``level`` on cannot sum up to ``rest``, by hull or residue."""
        gcd = self.gcds[level]
        return self.lows[level] <= rest <= self.highs[level] and (rest % gcd == 0 if gcd else rest == 0)

    def candidates(self, level: int, rest: int) -> range:
        """Ascending values of one index that leave the later axes a sum in their hull and residue class.

        ``rest`` must pass ``may_hold``.
        """
        stride, extent = self.view.strides[level], self.view.shape[level]
        if stride == 0 or extent == 1:
            return range(extent)
        low, high = rest - self.highs[level + 1], rest - self.lows[level + 1]
        if stride < 0:
            low, high = high, low
        first = max(0, -(-low // stride))
        last = min(extent - 1, high // stride)
        after = self.gcds[level + 1]
        if after == 0:
            return range(first, last + 1)
        gcd = math.gcd(stride, after)
        step = after // gcd
        residue = rest // gcd * pow(stride // gcd, -1, step)
        return range(first + (residue - first) % step, last + 1, step)
