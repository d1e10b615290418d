"""The trusted base: accepts a certificate only if the map in it meets the expectation in it.

Standard library only and nothing of this project; runs alone as ``python check.py FILE``. The obligations are
derived from the map. What is malformed, too large or not understood is rejected. Theory: T1-T5, T8-T16.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm, prod
from pathlib import Path
from typing import Any, NamedTuple

INT64_MAX, MOST_WORK, MOST_HELD, MOST_TEXT = 2**63 - 1, 2**22, 2**20, 2**27
RANK, SCALE = re.compile("0|[1-9][0-9]{0,18}"), re.compile("-?[1-9][0-9]{0,399}/[1-9][0-9]{0,399}")
MALFORMED = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
DEFAULTS: dict[str, Any] = {"cover": True, "lookup": False, "partial": False, "sum_ulps": 4, "index_bits": 64}
MEMBERS = {*DEFAULTS, "reference", "holes", "gaps", "scale", "write_unit"}
FORMS = {"cancellation": {}, "pairs": {"work": int}, "solver-claim": {"solver": str, "version": str}}
Axes = list[tuple[int, int]]  # (stride >= 1, extent), strides ascending


class Rejected(Exception):  # noqa: N818 - an outcome, not an error
    """The certificate proves nothing; the message names the obligation and the first wrong number."""


class TooLarge(Rejected):
    """The certificate may well be right, but confirming it takes more work than the checker does."""


def need(truth: object, message: str, *values: object) -> None:
    """Reject unless it is true; the message is put together only then."""
    if not truth:
        raise Rejected(message.format(*values))


def spend(work: list[int], steps: int) -> None:
    """Take steps from an allowance, its only member; reject once it is used up."""
    work[0] -= steps
    if work[0] < 0:
        raise TooLarge("too large to check")


class View(NamedTuple):
    """``repeat`` visits of low + sum(i_k * stride_k), 0 <= i_k < extent_k; the first axis is (1, run)."""

    low: int
    high: int
    axes: Axes
    repeat: int


def normal(offset: int, strides: Iterable[int], shape: Iterable[int], repeat: int = 1) -> View:
    """A view with strides >= 0 and extents >= 1 in normal form. Theory: T1, T2."""
    axes = [(1, 1)]
    for s, n in sorted(zip(strides, shape, strict=True)):
        if s == 0:
            repeat *= n
        elif s == prod(axes[-1]):
            axes[-1] = (axes[-1][0], axes[-1][1] * n)
        elif n > 1:
            axes.append((s, n))
    return View(offset, offset + sum(s * (n - 1) for s, n in axes), axes, repeat)


def visits(views: Iterable[View]) -> int:
    """How many visits there are in all."""
    return sum(v.repeat * prod(n for _, n in v.axes) for v in views)


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


def edges(views: Sequence[View], work: list[int], unit: int = 1) -> dict[int, int]:
    """(1 - x) times the visits, times prod (1 - x^lcm(s, unit)) over the other strides s. Theory: T3, T4, T9.

    A view is x^low * prod (1 - x^(s n)) / (1 - x^s); its run of stride 1 takes up the factor 1 - x. The
    product over the strides has constant term 1 and exponents that are multiples of the unit.
    """
    groups: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    common, total = Counter[int](), Counter[int]()
    work[0] += 2**11 * len(views)  # no map is refused for its length alone; the sum is linear in the text
    own = [most := min(work[0], MOST_HELD + 2**6 * len(views))]  # also bounds what is held at once
    for v in views:
        terms = [(v.low, v.repeat), (v.low + v.axes[0][1], -v.repeat)]
        for s, n in v.axes[1:]:
            spend(own, 2 * len(terms) * (lcm(s, unit) // s))
            steps = range(0, lcm(s, unit), s)
            terms = [(e + k + d, c * f) for e, c in terms for k in steps for d, f in ((0, 1), (s * n, -1))]
        common |= Counter(strides := tuple([s for s, _ in v.axes[1:]]))
        for e, c in terms:
            groups[strides][e] += c
    for strides, group in groups.items():
        for s in (common - Counter(strides)).elements():
            spend(own, len(group))
            for e, c in tuple(group.items()):
                group[e + lcm(s, unit)] -= c
        total.update(group)
    work[0] -= most - own[0]
    return {e: c for e, c in total.items() if c}


def check_zero(views: Sequence[View], work: list[int]) -> None:
    """The visits, signed by ``repeat``, cancel at every address. Theory: T3, T4."""
    for address, count in sorted(edges(views, work).items()):
        raise Rejected(f"the visits of address {address} are off by {count:+d}")


def solutions(target: int, axes: Axes, work: list[int]) -> int:
    """How many index tuples of ``axes`` sum to ``target``, within ``work[0]`` steps. Theory: T14."""
    if not axes or target % gcd(*(s for s, _ in axes)):
        return int(not axes and target == 0)
    *below, (s, n) = axes
    reach, unit = sum(t * (m - 1) for t, m in below), gcd(*(t for t, _ in below))
    first, last, common = max(0, -((reach - target) // s)), min(n - 1, target // s), gcd(s, unit)
    step = unit // common or 1  # an index must leave the others a multiple of their gcd
    first += (target // common * pow(s // common, -1, step) - first) % step
    spend(work, max(0, (last - first) // step + 1) * len(axes))
    return sum(solutions(target - i * s, below, work) for i in range(first, last + 1, step))


def moving(axes: Iterable[tuple[int, int]]) -> Axes:
    """The axes of extents above 1, ascending."""
    return sorted((s, n) for s, n in axes if n > 1)


def check_pairs(views: Sequence[View], work: list[int]) -> None:
    """No view visits an address twice, and no two views meet. Theory: T8, T14."""
    for i, a in enumerate(ordered := sorted(views)):
        gaps = moving((s, 2 * n - 1) for s, n in a.axes)  # between two indices; only equal ones may meet
        need(a.repeat == 1 and solutions(a.high - a.low, gaps, work) == 1, "view {} visits twice", a.low)
        for b in ordered[i + 1 :]:
            if b.low > a.high:
                break
            spend(work, 1)
            spans = Counter[int]()  # meeting: a.low + (indices of a) == b.high - (indices of b, reversed)
            for s, n in a.axes + b.axes:
                spans[s] += n - 1
            met = solutions(b.high - a.low, moving((s, n + 1) for s, n in spans.items()), work)
            need(not met, "the views from addresses {} and {} meet", a.low, b.low)


def check_cover(form: str, work: list[int], size: int, pad: list[int], full: bool, views: list[View]) -> None:
    """No address is visited twice, none outside 0..size; full: all are, pad aside. Theory: T3, T8, T15."""
    spend(work, len(pad) * len(views))
    near = ((c, v) for c in pad for v in views if v.low <= c <= v.high)
    on = {c for c, v in near if solutions(c - v.low, moving(v.axes), work)}
    views = views + [normal(cell, (), ()) for cell in {*pad} - on if cell < size]
    for v in views:
        need(v.low >= 0 and v.high < size, "addresses {}..{} are not all below {}", v.low, v.high, size)
    if form == "cancellation":
        for low, high, group in components(views):  # each fills its hull exactly, as one run does
            if len(group) > 1 or group[0].repeat > 1 or len(group[0].axes) > 1:
                check_zero([*group, normal(low, [1], [high + 1 - low], -1)], work)
    elif form == "pairs":
        check_pairs(views, work)
    need((n := visits(views)) == size or (not full and n < size), "{} visits of {} addresses", n, size)


def check_same(form: str, work: list[int], left: list[View], right: list[View]) -> None:
    """Two multisets of addresses are equal. Theory: T4."""
    need(visits(left) == visits(right), "the two sides differ in visits")
    if form == "cancellation":
        for _, _, group in components(left + [v._replace(repeat=-v.repeat) for v in right]):
            check_zero(group, work)


def check_units(form: str, work: list[int], size: int, unit: int, views: list[View]) -> None:
    """The set of addresses visited begins and ends only at multiples of unit or at size. Theory: T9."""
    found = edges(views, work, unit) if form == "cancellation" else ()
    inside = min((edge for edge in found if edge % unit), default=size)
    need(inside >= size, "the addresses begin or end at {}, inside a unit of {}", inside, unit)


class Piece(NamedTuple):
    """A piece with elements, well placed. ``pair`` visits source * (elements of the shard) + dest (T5)."""

    where: str
    source: View
    dest: View
    pair: View
    locations: tuple[int, ...]
    scale: Fraction


Held = dict[int, list[Piece]]  # pieces by rank


def naturals(value: Any, least: int = 0) -> list[int]:
    """A JSON array of integers from ``least`` to 2^128, past which nothing is meant."""
    if type(value) is not list or not all(type(n) is int and least <= n < 2**128 for n in value):
        raise ValueError(f"{value!a:.40} is no list of integers from {least}")
    return value


def by_rank(value: Any) -> dict[int, Any]:
    """A JSON object keyed by rank, ascending."""
    need(all(RANK.fullmatch(key) for key in value), "malformed: {!a:.60} are no ranks", list(value))
    return {rank: value[str(rank)] for rank in sorted(map(int, value))}


def rational(value: str) -> Fraction:
    """A scale; infinite, undefined and zero ones have no inverse."""
    need(SCALE.fullmatch(value), "pieces: scale {!a:.40} is not a finite rational other than 0", value)
    return Fraction(value)


def read_piece(where: str, raw: Any, source_size: int, dest_size: int) -> Iterator[Piece]:
    """A piece that reaches only addresses of parameter and shard, none for an empty one. Theory: T2, T10."""
    need({*raw} - {"scale"} == {"shape", "source", "dest", "locations"}, "malformed: {}", where)
    shape, locations = naturals(raw["shape"]), naturals(raw["locations"])
    need(locations == sorted(set(locations)), "malformed: {} has locations {}", where, locations)
    (source, by_source), (dest, by_dest) = raw["source"], raw["dest"]
    for offset, strides, size in ((source, by_source, source_size), (dest, by_dest, dest_size)):
        numbers = naturals([offset, *naturals(strides, -(2**128)), *shape], -(2**128))
        need(len(strides) == len(shape) <= 64, "malformed: {} has strides {} for {}", where, strides, shape)
        high = offset + sum(s * (n - 1) for s, n in zip(strides, shape, strict=True))
        inside = min(numbers) >= 0 and high < size and max(numbers) <= INT64_MAX
        reached = where, offset, high, size, strides
        need(inside or 0 in shape, "pieces: {} reaches {}..{} of {} by {}", *reached)
    need(type(raw.get("scale", "")) is str, "malformed: {} has no scale", where)
    if 0 not in shape:
        strides = [s * dest_size + d for s, d in zip(by_source, by_dest, strict=True)]
        pair = normal(source * dest_size + dest, strides, shape)
        views = normal(source, by_source, shape), normal(dest, by_dest, shape), pair
        yield Piece(where, *views, tuple(locations), rational(raw.get("scale", "1/1")))


def read_map(raw: Any) -> tuple[list[int], dict[int, list[int]], Held]:
    """Logical shape, and shapes and pieces by rank, with sizes within int64 and pieces well placed."""
    need(raw.keys() == {"logical_shape", "ranks"}, "malformed: the map")
    logical, ranks = naturals(raw["logical_shape"]), by_rank(raw["ranks"])
    need(all(shard.keys() == {"shard_shape", "pieces"} for shard in ranks.values()), "malformed: a shard")
    shapes = {rank: naturals(shard["shard_shape"]) for rank, shard in ranks.items()}
    need(all(len(s) <= 64 and prod(s) <= INT64_MAX for s in (logical, *shapes.values())), "pieces: too large")
    held: Held = {rank: [] for rank in ranks}
    for rank, shard in ranks.items():
        for i, piece in enumerate([] + shard["pieces"]):  # nothing but a list can be added to one
            held[rank] += read_piece(f"piece {i} of rank {rank}", piece, prod(logical), prod(shapes[rank]))
    return logical, shapes, held


def check_pieces(held: Held, x: dict[str, Any]) -> None:
    """What the expectation asks of each piece alone. Theory: T10, T16."""
    scale = rational(x["scale"]) if "scale" in x else None
    for p, rank in ((p, rank) for rank, pieces in held.items() for p in pieces):
        high, known = max(p.source.high, p.dest.high), {rank} <= set(p.locations) <= held.keys()
        need(high.bit_length() < x["index_bits"], "pieces: {} reaches address {}", p.where, high)
        need(scale in (None, p.scale), "pieces: {} has scale {}", p.where, p.scale)
        need(known or x["lookup"], "pieces: {} has locations {}", p.where, p.locations)
        need("write_unit" not in x or len(p.locations) == 1, "pieces: {} has several writers", p.where)


def check_holders(held: Held, x: dict[str, Any], ask: Callable[..., None], work: list[int]) -> list[View]:
    """Ranks of equal locations and scale hold the same; what the first of them hold is returned. Theory: T11.

    With ``partial`` the ranks of equal locations have one scale each, and these sum to 1. Theory: T16.
    """
    groups, firsts = dict[tuple[tuple[int, ...], Fraction | str], Held](), list[View]()
    for rank, p in ((rank, p) for rank, pieces in held.items() for p in pieces):
        key = p.locations, "partial" if x["partial"] else p.scale
        groups.setdefault(key, {r: [] for r in p.locations})[rank].append(p)
    for (ranks, scale), members in groups.items():
        own = {rank: [p.source for p in pieces] for rank, pieces in members.items()}
        for rank in ranks[1:]:
            ask(f"holders/{','.join(map(str, ranks))}/{scale}/{rank}", check_same, own[ranks[0]], own[rank])
        if x["partial"]:
            scales = {(rank, p.scale) for rank, pieces in members.items() for p in pieces}
            spend(work, len({s for _, s in scales}) << 12)  # their denominators may have nothing in common
            summed = abs(sum((s for _, s in scales), Fraction(-1))) <= Fraction(x["sum_ulps"], 2**53)
            need(summed and len(scales) <= len(ranks), "pieces: scales of {} are not one each, sum 1", ranks)
        firsts += own[ranks[0]]
    return firsts


def check_map(raw: Any, x: dict[str, Any], ask: Callable[..., None], work: list[int]) -> None:
    """Everything that must hold of a map under an expectation. Theory: T10."""
    logical, shapes, held = read_map(raw)
    flags, numbers = [x["cover"], x["lookup"], x["partial"]], naturals([x["sum_ulps"], x["index_bits"]])
    need(all(type(flag) is bool for flag in flags) and numbers[1] >= 2, "malformed: expectation")
    holes = {rank: naturals(cells) for rank, cells in by_rank(x.get("holes", {})).items()}
    need(not (x["lookup"] and (x["partial"] or "write_unit" in x)), "pieces: a lookup table has no writers")
    check_pieces(held, x)
    for rank, pieces in held.items():
        dests = [p.dest for p in pieces]
        ask(f"shard/{rank}", check_cover, prod(shapes[rank]), holes.get(rank, []), True, dests)
    gaps = naturals(x.get("gaps", []))
    if not x["lookup"]:
        ask("parameter", check_cover, prod(logical), gaps, x["cover"], check_holders(held, x, ask, work))
    if "reference" in x:
        *frame, others = read_map(x["reference"])
        need(frame == [logical, shapes], "reference: shapes or ranks differ")
        for rank, pieces in held.items():
            sides: dict[Fraction, tuple[list[View], list[View]]] = {}
            for side, p in [(0, p) for p in pieces] + [(1, p) for p in others[rank]]:
                sides.setdefault(p.scale, ([], []))[side].append(p.pair)
            for _, both in sorted(sides.items()):
                ask(f"reference/{rank}", check_same, *both)
    for unit in naturals([x["write_unit"]], 1) if "write_unit" in x else ():
        for rank, pieces in held.items():
            ask(f"unit/{rank}", check_units, prod(logical), unit, [p.source for p in pieces])


def check_all(certificate: Any) -> tuple[str, ...]:
    """Check every obligation; what has to be taken on trust."""
    need(certificate.keys() == {"schema", "name", "map", "expectation", "evidence"}, "malformed: members")
    named = type(certificate["name"]) is str and certificate["schema"] == "shardproof.certificate/1"
    need(named, "certificate: unknown schema, or no name")
    evidence, expectation, work = certificate["evidence"], certificate["expectation"], [MOST_WORK]
    need(expectation.keys() <= MEMBERS, "malformed: expectation of {}", sorted(expectation))
    asked: dict[str, str] = {}

    def ask(name: str, statement: Callable[..., None], *arguments: Any) -> None:
        form = evidence.get(name, {"form": "cancellation"})
        known = {k: type(v) for k, v in form.items() if k != "form"} == FORMS.get(form["form"])
        fits = known and form.get("work", 0) >= 0 and (form["form"] != "pairs" or statement is check_cover)
        need(fits, "{}: {!a:.40} is no proof of this", name, form["form"])
        try:
            statement(form["form"], work, *arguments)
        except Rejected as fault:
            raise type(fault)(f"{name}: {fault}") from None
        asked[name] = f"{name} rests on {form['solver']!a} {form['version']!a}" if "solver" in form else ""

    check_map(certificate["map"], DEFAULTS | expectation, ask, work)
    need(evidence.keys() <= asked.keys(), "evidence: unknown {!a:.60}", sorted({*evidence} - {*asked}))
    return tuple(filter(None, asked.values()))


def check(document: object) -> tuple[str, ...]:
    """The assumptions that a parsed certificate rests on: none, or what solvers claimed; or Rejected."""
    try:
        return check_all(document)
    except MALFORMED as fault:
        raise Rejected(f"malformed: {type(fault).__name__} {fault}"[:300]) from fault


def unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object none of whose names comes twice."""
    need(len(dict(members)) == len(members), "malformed: an object has a name twice")
    return dict(members)


def check_text(text: str) -> tuple[str, ...]:
    """As ``check``, for the text of a certificate."""
    need(len(text) <= MOST_TEXT, "malformed: too long")
    try:
        return check(json.loads(text, object_pairs_hook=unique))
    except MALFORMED as fault:
        raise Rejected(f"malformed: {fault}"[:300]) from fault


if __name__ == "__main__":
    try:
        print("\n".join(["accepted", *check_text(Path(sys.argv[1]).read_text("utf-8"))]))
    except (IndexError, OSError, UnicodeDecodeError, Rejected) as fault:
        sys.exit(f"rejected: {fault}")
