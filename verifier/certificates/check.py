"""The trusted base: accepts a certificate only if the map in it meets the expectation in it.

Standard library only and nothing of this project, so that no engine vouches for itself. Runs alone too, as
``python check.py FILE``. Every obligation is derived from the map; ``evidence`` only says how it is to be
checked. Whatever is malformed, too large or not understood is rejected. Theory: T3-T12, T14-T16.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import gcd, lcm, prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

INT64_MAX = 2**63 - 1
MOST_WORK = 2**25  # monomials, boxes or search nodes of one obligation
MOST_STRIDES, MOST_AXES, MOST_ADDRESSES, MOST_TEXT = 20, 64, 5_000_000, 2**27
RATIONAL = re.compile("-?[1-9][0-9]{0,399}/[1-9][0-9]{0,399}")
RANK = re.compile("0|[1-9][0-9]{0,18}")
MALFORMED = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
T = TypeVar("T")
Box = tuple[tuple[int, int], ...]  # low and high (exclusive) of each digit


class Rejected(Exception):  # noqa: N818 - an outcome, not an error
    """The certificate proves nothing; the message names the obligation and the first wrong number."""


class Work:
    """An allowance of steps."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Reject once more steps are spent than allowed."""
        self.left -= steps
        if self.left < 0:
            raise Rejected("too large to check")


class View(NamedTuple):
    """``repeat`` visits of low + sum(i_k * stride_k) for 0 <= i_k < extent_k; strides >= 1, extents >= 2."""

    low: int
    high: int
    axes: tuple[tuple[int, int], ...]
    repeat: int

    @property
    def visits(self) -> int:
        """How many visits there are in all."""
        return self.repeat * prod(n for _, n in self.axes)

    @property
    def strides(self) -> Counter[int]:
        """Each stride with the number of its axes."""
        return Counter(s for s, _ in self.axes)


def normal(offset: int, strides: Iterable[int], shape: Iterable[int], repeat: int = 1) -> View:
    """A view with strides >= 0 and extents >= 1 in normal form, strides ascending. Theory: T1, T2."""
    axes: list[tuple[int, int]] = []
    for s, n in sorted(zip(strides, shape, strict=True)):
        if s == 0:
            repeat *= n
        elif axes and s == prod(axes[-1]):
            axes[-1] = (axes[-1][0], axes[-1][1] * n)
        elif n > 1:
            axes.append((s, n))
    return View(offset, offset + sum(s * (n - 1) for s, n in axes), tuple(axes), repeat)


def components(views: Iterable[View]) -> Iterator[tuple[int, int, list[View]]]:
    """(lowest, highest, views) of each connected component of the hulls, ascending. Theory: T12."""
    low, high, group = 0, -1, list[View]()
    for v in sorted(views):
        if group and v.low > high:
            yield low, high, group
            group = []
        low, high = (low, max(high, v.high)) if group else (v.low, v.high)
        group.append(v)
    if group:
        yield low, high, group


def times(terms: Mapping[int, int], factor: Mapping[int, int], work: Work) -> dict[int, int]:
    """The product of two polynomials, given as exponent -> coefficient."""
    work.spend(len(terms) * len(factor))
    product: dict[int, int] = {}
    for a, c in terms.items():
        for b, d in factor.items():
            product[a + b] = product.get(a + b, 0) + c * d
    return product


def numerator(views: Sequence[View], unit: int, work: Work) -> dict[int, int]:
    """The visits as one polynomial, times prod (1 - x^lcm(s, unit)) over the strides s. Theory: T3, T4, T9.

    A view is x^low * prod (1 - x^(s n)) / (1 - x^s). The product over the strides has constant term 1, so the
    least exponent that survives is the least address visited, and its coefficient says how often.
    """
    strides: Counter[int] = Counter()
    for v in views:
        strides |= v.strides
        if strides.total() > MOST_STRIDES:
            raise Rejected("too large to check: too many strides")
    total: Counter[int] = Counter()
    for v in views:
        terms = {v.low: v.repeat}
        for s, n in v.axes:
            work.spend(lcm(s, unit) // s)
            terms = times(terms, dict.fromkeys(range(0, lcm(s, unit), s), 1), work)  # (1 - x^lcm) / (1 - x^s)
            terms = times(terms, {0: 1, s * n: -1}, work)
        for s in (strides - v.strides).elements():
            terms = times(terms, {0: 1, lcm(s, unit): -1}, work)
        total.update(terms)
    return {exponent: count for exponent, count in total.items() if count}


def check_zero(views: Sequence[View], work: Work) -> None:
    """The visits, signed by ``repeat``, cancel at every address. Theory: T3, T4."""
    left = numerator(views, 1, work)
    if left:
        raise Rejected(f"the visits of address {min(left)} are off by {left[min(left)]:+d}")


def listed(views: Sequence[View]) -> list[int]:
    """The address of every visit, ascending."""
    if sum(v.visits for v in views) > MOST_ADDRESSES:
        raise Rejected("too large to check: too many addresses")
    addresses: list[int] = []
    for v in views:
        cells = [v.low] * v.repeat
        for s, n in v.axes:
            cells = [cell + s * i for cell in cells for i in range(n)]
        addresses += cells
    return sorted(addresses)


def solutions(target: int, axes: Sequence[tuple[int, int]], work: Work) -> int:
    """How many index tuples of ``axes`` (stride, extent) sum to ``target``. Theory: T14."""
    if not axes or target % gcd(*(s for s, _ in axes)):
        return int(not axes and target == 0)
    *below, (s, n) = axes
    reach = sum(t * (m - 1) for t, m in below)
    first, last = max(0, -((reach - target) // s)), min(n - 1, target // s)
    work.spend(max(0, last - first + 1))
    return sum(solutions(target - i * s, below, work) for i in range(first, last + 1))


def unvisited(cells: Iterable[int], views: Sequence[View], work: Work) -> list[View]:
    """One visit at each of the cells that no view visits, consecutive ones as one view. Theory: T15."""
    runs: list[tuple[int, int]] = []
    for cell in sorted(set(cells)):
        work.spend(1 + len(views))
        if not any(v.low <= cell <= v.high and solutions(cell - v.low, v.axes, work) for v in views):
            start, length = runs.pop() if runs and sum(runs[-1]) == cell else (cell, 0)
            runs.append((start, length + 1))
    return [normal(start, [1], [length]) for start, length in runs]


def check_pairs(views: Sequence[View], work: Work) -> None:
    """No view visits an address twice, and no two views meet. Theory: T8, T14."""
    ordered, meetings = sorted(views), Work(MOST_WORK // 32)
    for i, a in enumerate(ordered):
        differences = [(s, 2 * n - 1) for s, n in a.axes]  # of two indices, of which only equal ones may meet
        if a.repeat != 1 or solutions(a.high - a.low, differences, work) != 1:
            raise Rejected(f"the view from address {a.low} visits an address twice")
        for j in range(i + 1, len(ordered)):
            b = ordered[j]
            if b.low > a.high:
                break
            meetings.spend(1)
            spans: Counter[int] = Counter()
            for s, n in a.axes + b.axes:
                spans[s] += n - 1
            # They meet iff a.low + (indices of a) == b.high - (indices of b, reversed).
            if solutions(b.high - a.low, [(s, n + 1) for s, n in sorted(spans.items())], work):
                raise Rejected(f"the views from addresses {a.low} and {b.low} meet")


def digit_boxes(view: View, radices: Sequence[int], work: Work) -> list[Box]:
    """Boxes that together are the addresses of a view whose strides are all radices. Theory: T6."""
    extents = dict(view.axes)
    parts: list[tuple[Box, int, int]] = [((), view.low, view.low + 1)]  # digits so far, range of the rest
    for radix, above in pairwise(radices):
        work.spend(len(parts))
        width, split = above // radix, list[tuple[Box, int, int]]()
        for box, low, stop in parts:
            high = stop + extents.get(radix, 1) - 1
            first = min(high, -(-low // width) * width)  # low..first and last..high are in one turn each
            last = max(first, high // width * width)
            for a, b in pairwise(sorted({low, first, last, high})):
                digit = (0, width) if b - a >= width else (a % width, (b - 1) % width + 1)
                split.append(((*box, digit), a // width, (b - 1) // width + 1))
        parts = split
    return [(*box, (low, stop + extents.get(radices[-1], 1) - 1)) for box, low, stop in parts]


def within(box: Box, axis: int, least: int, most: int) -> Box:
    """The part of a box whose digit ``axis`` is in least..most."""
    low, high = box[axis]
    return (*box[:axis], (max(low, least), min(high, most)), *box[axis + 1 :])


def check_tree(views: Sequence[View], radices: Sequence[int], tree: Sequence[Any], work: Work) -> None:
    """The cuts part digit space into regions that meet one view each; no view meets itself. Theory: T7."""
    if radices[:1] != [1] or any(high <= low or high % low for low, high in pairwise(radices)):
        raise Rejected(f"radices {radices} are no divisibility chain from 1")
    boxes: list[tuple[int, Box]] = []
    for owner, v in enumerate(views):
        if not v.strides.keys() <= set(radices):
            raise Rejected(f"the view from address {v.low} has a stride that is no radix")
        if v.repeat != 1 or any(s * n > above for (s, n), (above, _) in pairwise(v.axes)):
            raise Rejected(f"the view from address {v.low} visits an address twice")
        boxes += [(owner, box) for box in digit_boxes(v, radices, work)]
    pending = [boxes]
    for node in tree:
        group = pending.pop()
        work.spend(1 + len(group))
        if node is None:
            if len({owner for owner, _ in group}) > 1:
                lows = sorted(views[owner].low for owner, _ in group)
                raise Rejected(f"the views from addresses {lows[0]} and {lows[1]} are not separated")
            continue
        axis, at = integers(node)
        for least, most in ((at, INT64_MAX), (0, at)):  # the part above waits for the part below
            part = [(o, b) for o, b in group if b[axis][0] < most and b[axis][1] > least]
            pending.append([(o, within(b, axis, least, most)) for o, b in part])
    if pending:
        raise Rejected("the tree ends before its last leaf")


def check_cover(
    size: int, cells: Iterable[int], exact: bool, views: list[View], form: Any, work: Work
) -> None:
    """No address is visited twice, none outside 0..size; exact: all are, cells aside. Theory: T3, T8, T15."""
    views = views + unvisited(cells, views, work)
    for v in views:
        if v.low < 0 or v.high >= size:
            raise Rejected(f"addresses {v.low}..{v.high} are not all in 0..{size - 1}")
    match form:
        case {"form": "cancellation"}:
            for low, high, group in components(views):  # each fills its hull exactly
                check_zero([*group, normal(low, [1], [high + 1 - low], -1)], work)
        case {"form": "digit-boxes", "radices": radices, "tree": tree}:
            check_tree(views, integers(radices), typed(tree, list), work)
        case {"form": "pairs", "work": nodes}:
            check_pairs(views, Work(min(50 * integer(nodes) + 10_000, MOST_WORK)))
        case {"form": "listing"}:
            for address, following in pairwise(listed(views)):
                if address == following:
                    raise Rejected(f"address {address} is visited twice")
        case {"form": other} if other != "solver-claim":
            raise Rejected(f"{other!a:.40} is no proof of this")
    visits = sum(v.visits for v in views)
    if visits > size or (exact and visits < size):
        raise Rejected(f"{visits} visits of {size} addresses")


def check_same(left: list[View], right: list[View], form: Any, work: Work) -> None:
    """Two multisets of addresses are equal. Theory: T4."""
    visits, others = (sum(v.visits for v in views) for views in (left, right))
    if visits != others:
        raise Rejected(f"{visits} visits against {others}")
    match form:
        case {"form": "cancellation"}:
            for _, _, group in components(left + [v._replace(repeat=-v.repeat) for v in right]):
                check_zero(group, work)
        case {"form": "listing"}:
            for address, other in zip(listed(left), listed(right), strict=True):
                if address != other:
                    raise Rejected(f"address {min(address, other)} is visited on one side only")
        case {"form": other} if other != "solver-claim":
            raise Rejected(f"{other!a:.40} is no proof of this")


def check_units(size: int, unit: int, views: list[View], form: Any, work: Work) -> None:
    """The set of addresses visited begins and ends only at multiples of unit or at size. Theory: T9."""
    if size % unit and any(solutions(size - 1 - v.low, v.axes, work) for v in views):
        views = [*views, normal(size, [1], [unit - size % unit])]  # an end at size becomes one at a multiple
    edges: Iterable[int] = ()
    match form:
        case {"form": "cancellation"}:
            terms = times(numerator(views, unit, work), {0: 1, 1: -1}, work)
            edges = [edge for edge, count in terms.items() if count]
        case {"form": "listing"}:
            cells = set(listed(views))
            edges = cells ^ {cell + 1 for cell in cells}
        case {"form": other} if other != "solver-claim":
            raise Rejected(f"{other!a:.40} is no proof of this")
    wrong = [edge for edge in edges if edge % unit]
    if wrong:
        raise Rejected(f"the addresses begin or end at {min(wrong)}, inside a unit of {unit}")


def typed(value: object, kind: type[T]) -> T:
    """A value of exactly one JSON type."""
    if type(value) is not kind:
        raise ValueError(f"{value!a:.40} is not of type {kind.__name__}")
    return value


def integer(value: object, least: int = 0) -> int:
    """An integer from ``least`` to 2^128, past which nothing is meant."""
    if not least <= typed(value, int) < 2**128:
        raise ValueError(f"{value!a:.40} is not in {least}..2^128")
    return typed(value, int)


def integers(value: object, least: int = 0) -> list[int]:
    """A JSON array of integers."""
    return [integer(item, least) for item in typed(value, list)]


def table(value: object, required: str, optional: str = "") -> dict[str, Any]:
    """A JSON object with all the required names and no unknown ones."""
    names, needed = typed(value, dict).keys(), set(required.split())
    if not needed <= names <= needed | set(optional.split()):
        raise ValueError(f"{list(names)!a:.100} where {required} {optional} was expected")
    return typed(value, dict)


def by_rank(value: object) -> dict[int, Any]:
    """A JSON object keyed by rank, ascending."""
    ranks = typed(value, dict)
    if not all(RANK.fullmatch(key) for key in ranks):
        raise ValueError(f"{list(ranks)!a:.100} where ranks were expected")
    return {rank: ranks[str(rank)] for rank in sorted(map(int, ranks))}


def rational(value: str) -> Fraction:
    """A scale; infinite, undefined and zero ones have no inverse."""
    if not RATIONAL.fullmatch(value):
        raise Rejected(f"pieces: scale {value!a:.40} is not a finite rational other than 0")
    return Fraction(value)


class Piece(NamedTuple):
    """A piece with elements, well placed. ``pair`` visits source * (elements of the shard) + dest."""

    where: str
    source: View
    dest: View
    pair: View
    locations: tuple[int, ...]
    scale: Fraction


def read_piece(where: str, value: object, source_size: int, dest_size: int) -> Piece | None:
    """A piece that reaches only addresses of parameter and shard, None for an empty one. Theory: T2, T10."""
    raw = table(value, "shape source dest locations", "scale")
    shape, locations, scale = integers(raw["shape"]), integers(raw["locations"]), raw.get("scale", "1/1")
    (source, by_source), (dest, by_dest) = raw["source"], raw["dest"]
    for offset, strides, size in ((source, by_source, source_size), (dest, by_dest, dest_size)):
        numbers = [integer(offset, -(2**128)), *integers(strides, -(2**128)), *shape]
        if not len(shape) == len(strides) <= MOST_AXES or locations != sorted(set(locations)):
            raise ValueError(f"{where}: {len(shape)} extents, {len(strides)} strides, locations {locations}")
        if 0 in shape:
            continue
        high = offset + sum(s * (n - 1) for s, n in zip(strides, shape, strict=True))
        if any(s < 0 and n > 1 for s, n in zip(strides, shape, strict=True)):
            raise Rejected(f"pieces: {where} has a negative stride in {strides}")
        if offset < 0 or high >= size or max(map(abs, numbers)) > INT64_MAX:
            raise Rejected(f"pieces: {where} reaches addresses {offset}..{high}, not all in 0..{size - 1}")
    if 0 in shape:
        return None
    views = normal(source, by_source, shape), normal(dest, by_dest, shape)
    strides = [s * dest_size + d for s, d in zip(by_source, by_dest, strict=True)]
    pair = normal(source * dest_size + dest, strides, shape)
    return Piece(where, *views, pair, tuple(locations), rational(typed(scale, str)))


Frame = tuple[list[int], dict[int, list[int]]]  # logical shape, shard shape by rank
Held = dict[int, list[Piece]]  # pieces by ascending rank, the empty ones left out


def read_map(value: object) -> tuple[Frame, Held]:
    """A map whose sizes fit int64 and whose pieces are well placed."""
    raw = table(value, "logical_shape ranks")
    shape, ranks = integers(raw["logical_shape"]), by_rank(raw["ranks"])
    shards = {r: integers(table(s, "shard_shape pieces")["shard_shape"]) for r, s in ranks.items()}
    for dimensions in (shape, *shards.values()):
        if len(dimensions) > MOST_AXES or prod(dimensions) > INT64_MAX:
            raise Rejected(f"pieces: more than 2^63 - 1 elements in {dimensions[:MOST_AXES]}")
    held: Held = {}
    for rank, shard in ranks.items():
        sizes, pieces = (prod(shape), prod(shards[rank])), typed(shard["pieces"], list)
        read = [read_piece(f"piece {i} of rank {rank}", piece, *sizes) for i, piece in enumerate(pieces)]
        held[rank] = [piece for piece in read if piece]
    return (shape, shards), held


Statements = Iterator[tuple[str, Callable[[Any, Work], None]]]


def obligations(document: dict[str, Any]) -> Statements:
    """Name and check of everything that must hold, direct rules being checked on the way. Theory: T10."""
    (shape, shards), held = read_map(document["map"])
    names = "reference holes gaps scale cover lookup partial sum_ulps index_bits write_unit"
    x: dict[str, Any] = {
        "cover": True,
        "lookup": False,
        "partial": False,
        "gaps": [],
        "sum_ulps": 4,
        "index_bits": 64,
    }
    x |= table(document["expectation"], "", names)
    size, gaps, holes = prod(shape), integers(x["gaps"]), by_rank(x.get("holes", {}))
    cover, lookup, sums = (typed(x[flag], bool) for flag in ("cover", "lookup", "partial"))
    tolerance = Fraction(integer(x["sum_ulps"]), 2**53) if sums else None
    if lookup and (sums or "write_unit" in x):
        raise Rejected("pieces: a lookup table has neither partial sums nor writers")
    if not holes.keys() <= held.keys():
        raise Rejected(f"pieces: holes of ranks {sorted(holes.keys() - held.keys())}, which have no shard")
    check_pieces(held, lookup, x)
    for rank, pieces in held.items():
        cells, dests = integers(holes.get(rank, [])), [p.dest for p in pieces]
        yield f"shard/{rank}", partial(check_cover, prod(shards[rank]), cells, True, dests)
    if not lookup:
        firsts: list[View] = []
        yield from holder_obligations(held, tolerance, firsts)
        yield "parameter", partial(check_cover, size, gaps, cover, firsts)
    if "reference" in x:
        frame, others = read_map(x["reference"])
        if frame != (shape, shards):
            raise Rejected("reference: shapes or ranks differ")
        for rank in held:
            sides = held[rank], others[rank]
            for scale in sorted({p.scale for side in sides for p in side}):  # Theory: T5
                left, right = ([p.pair for p in side if p.scale == scale] for side in sides)
                yield f"reference/{rank}", partial(check_same, left, right)
    if "write_unit" in x:
        for rank, pieces in held.items():
            unit, sources = integer(x["write_unit"], 1), [p.source for p in pieces]
            yield f"unit/{rank}", partial(check_units, size, unit, sources)


def check_pieces(held: Held, lookup: bool, x: dict[str, Any]) -> None:
    """What the expectation asks of each piece alone. Theory: T10, T16."""
    bits, scale = integer(x["index_bits"], 2), rational(x["scale"]) if "scale" in x else None
    for rank, pieces in held.items():
        for p in pieces:
            if max(p.source.high, p.dest.high).bit_length() >= bits:
                raise Rejected(f"pieces: {p.where} reaches address {max(p.source.high, p.dest.high)}")
            if scale not in (None, p.scale):
                raise Rejected(f"pieces: {p.where} has scale {p.scale}")
            if not lookup and not {rank} <= set(p.locations) <= held.keys():
                raise Rejected(f"pieces: {p.where} has locations {p.locations}")
            if "write_unit" in x and len(p.locations) > 1:
                raise Rejected(f"pieces: {p.where} has {len(p.locations)} writing ranks")


def holder_obligations(held: Held, tolerance: Fraction | None, firsts: list[View]) -> Statements:
    """Ranks of equal locations and scale hold the same; what the first of them hold goes to ``firsts``.

    With a tolerance the ranks of equal locations have a scale each, and these sum to 1. Theory: T11, T16.
    """
    groups: dict[tuple[tuple[int, ...], str], dict[int, list[Piece]]] = {}
    for rank, pieces in held.items():
        for p in pieces:
            key = p.locations, str(p.scale) if tolerance is None else "partial"
            groups.setdefault(key, {r: [] for r in p.locations})[rank].append(p)
    for (ranks, scale), members in groups.items():
        views = {rank: [p.source for p in pieces] for rank, pieces in members.items()}
        firsts += views[ranks[0]]
        for rank in ranks[1:]:
            name = f"holders/{','.join(map(str, ranks))}/{scale}/{rank}"
            yield name, partial(check_same, views[ranks[0]], views[rank])
        scales = {(rank, p.scale) for rank, pieces in members.items() for p in pieces}
        error = abs(sum((scale for _, scale in scales), Fraction(-1)))
        if tolerance is not None and (len(scales) > len(ranks) or error > tolerance):
            raise Rejected(f"pieces: the scales of ranks {ranks} are not one each with the sum 1")


def assumptions(document: object) -> Iterator[str]:
    """Check every obligation; yield what has to be taken on trust."""
    certificate = table(document, "schema name map expectation evidence")
    if certificate["schema"] != "shardproof.certificate/1" or not isinstance(certificate["name"], str):
        raise Rejected(f"certificate: unknown schema {certificate['schema']!a:.60}, or no name")
    evidence, used = typed(certificate["evidence"], dict), set()
    for name, statement in obligations(certificate):
        used.add(name)
        form = evidence.get(name, {"form": "cancellation"})
        table(form, "form", "radices tree work addresses solver version")
        try:
            statement(form, Work(MOST_WORK))
        except Rejected as fault:
            raise Rejected(f"{name}: {fault}") from None
        if form["form"] == "solver-claim":
            claim = f"{name} rests on {typed(form['solver'], str)} {typed(form['version'], str)} alone"
            if not (claim.isascii() and claim.isprintable() and len(claim) < 1000 + len(name)):
                raise ValueError(f"no solver is called {claim!a:.60}")
            yield claim
    if evidence.keys() - used:
        raise Rejected(f"evidence: there is no obligation {min(evidence.keys() - used)!a:.60}")


def check(document: object) -> tuple[str, ...]:
    """The assumptions that a certificate, a parsed JSON value, rests on: none, or what solvers claimed.

    Raises:
        Rejected: it proves nothing, for whatever reason.
    """
    try:
        return tuple(dict.fromkeys(assumptions(document)))
    except MALFORMED as fault:
        raise Rejected(f"malformed: {type(fault).__name__} {fault}"[:300]) from fault


def unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object none of whose names comes twice."""
    if len(dict(members)) < len(members):
        raise ValueError("an object has a name twice")
    return dict(members)


def check_text(text: str) -> tuple[str, ...]:
    """As ``check``, for the text of a certificate. NaN and fractions parse, and fail as integers."""
    if len(text) > MOST_TEXT:
        raise Rejected("malformed: too long")
    try:
        document = json.loads(text, object_pairs_hook=unique)
    except MALFORMED as fault:
        raise Rejected(f"malformed: {fault}"[:300]) from fault
    return check(document)


def main(arguments: Sequence[str]) -> int:
    """Exit status 0 if the certificate is accepted, 1 if rejected, 2 if it cannot be read."""
    try:
        (path,) = arguments
        claims = check_text(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as fault:
        print(f"usage: check.py CERTIFICATE ({fault})", file=sys.stderr)
        return 2
    except Rejected as fault:
        print(f"rejected: {fault}")
        return 1
    print("\n".join(["accepted", *(f"assuming: {claim}" for claim in claims)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
