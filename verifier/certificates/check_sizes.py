"""The trusted base for proofs over all sizes: accepts a certificate only if every map in it is sound there.

Standard library only and nothing of this project; runs alone as ``python check_sizes.py FILE``. The numbers
of a map are polynomials; a sign of one that stays open becomes SMT-LIB text. Theory: T10, T11, T20, T25.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import permutations
from math import gcd, prod
from pathlib import Path
from typing import Any

MOST_WORK, MOST_ROWS, MOST_TERMS, MOST_DEGREE, MOST_TEXT = 2**21, 2**8, 2**12, 2**5, 2**27
NAME, SCALE = re.compile(r"[^\W\d][\w.]*(\[\d+\])*"), re.compile("-?[1-9][0-9]{0,399}/[1-9][0-9]{0,399}")
MALFORMED = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)


class Rejected(Exception):  # noqa: N818 - an outcome, not an error
    """The certificate proves nothing; the message names the obligation."""


class TooLarge(Rejected):
    """The certificate may well be right, but confirming it takes more work than the checker does."""


def need(truth: object, message: str, *values: object, kind: type[Rejected] = Rejected) -> None:
    """Reject unless it is true; the message is put together only then."""
    if not truth:
        raise kind(message.format(*values))


def spend(work: list[int], steps: int) -> None:
    """Take steps from an allowance, its only member; reject once it is used up."""
    work[0] -= steps
    need(work[0] >= 0, "too large to check", kind=TooLarge)


@dataclass(frozen=True, slots=True, order=True)
class Polynomial:
    """A sum of terms, ascending, none with factor 0; equal ones are equal objects."""

    terms: tuple[tuple[tuple[str, ...], int], ...]  # atoms, ascending, and a factor

    @classmethod
    def of(cls, terms: Iterable[tuple[tuple[str, ...], int]]) -> Polynomial:
        """The sum of any terms."""
        total: defaultdict[tuple[str, ...], int] = defaultdict(int)
        for k, (atoms, factor) in enumerate(terms):
            need(k < MOST_TERMS and len(atoms) <= MOST_DEGREE, "too large to check", kind=TooLarge)
            total[atoms] += factor
        return cls(tuple(sorted([term for term in total.items() if term[1]])))

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of(self.terms + other.terms)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of([*self.terms, *[(atoms, -factor) for atoms, factor in other.terms]])

    def __mul__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of((tuple(sorted(a + b)), f * g) for a, f in self.terms for b, g in other.terms)

    def at(self, values: Mapping[str, Polynomial], work: list[int]) -> Polynomial:
        """The polynomial with atoms replaced; others stay."""
        total = list[tuple[tuple[str, ...], int]]()
        for atoms, factor in self.terms:
            product = number(factor, *[one for one in atoms if one not in values])
            for one in [one for one in atoms if one in values]:
                spend(work, len(product.terms) * len(values[one].terms))
                product = product * values[one]
            total += product.terms
        spend(work, 1 + len(total))
        return Polynomial.of(total)

    def tight(self) -> Polynomial:
        """What is not negative where this is not: by the gcd of the factors of atoms, rounded down."""
        step = gcd(*[f for atoms, f in self.terms if atoms]) or abs(sum([f for _, f in self.terms])) or 1
        return Polynomial.of([(atoms, f // step) for atoms, f in self.terms])


def number(value: int, *atoms: str) -> Polynomial:
    """An integer times atoms."""
    return Polynomial(((atoms, value),) if value else ())


ZERO, ONE, FOLD = number(0), number(1), number(1, "@") + number(1)
View = tuple[Polynomial, tuple[tuple[Polynomial, Polynomial], ...]]  # offset, and (stride, extent) by axis


@dataclass(frozen=True, slots=True)
class Case:
    """Named numbers for all integers in place of atoms, from 0 unless free, where no claim is negative."""

    values: Mapping[str, Polynomial]
    work: list[int]
    open: dict[str, str]
    free: frozenset[str] = frozenset()
    claims: tuple[Polynomial, ...] = ()
    empty: bool = False

    def of(self, named: Polynomial) -> Polynomial:
        """A polynomial of the named numbers in atoms."""
        return named.at(self.values, self.work)

    def evident(self, p: Polynomial) -> bool:
        """No term of p is negative, so that p is not."""
        return all(factor > 0 and self.free.isdisjoint(atoms) for atoms, factor in p.terms)

    def assuming(self, *more: Polynomial) -> Case:
        """The part in which these are not negative either. What can be solved for an atom replaces it."""
        case, pending, kept = self, [*self.claims, *more], list[Polynomial]()
        while pending:
            p = pending.pop().tight()
            spend(self.work, 4 * len(p.terms) ** 2)
            if p == number(-1):
                return replace(self, empty=True)
            if case.evident(p):
                continue
            solution = case.solution(p, equation=case.evident(ZERO - p) or ZERO - p in kept)
            kept.append(p)
            for name, value in solution:
                kept += [value] if name not in case.free and not case.evident(value) else []
                pending, kept = [q.at({name: value}, self.work) for q in pending + kept], []
                values = {n: v.at({name: value}, self.work) for n, v in case.values.items()}
                case = replace(case, values=values, free=case.free - {name})
        return replace(case, claims=tuple(kept))

    def solution(self, p: Polynomial, *, equation: bool) -> list[tuple[str, Polynomial]]:
        """At most one atom with what may take its place where p is not negative, or is 0."""
        single = [(atoms[0], f) for atoms, f in p.terms if len(atoms) == 1]
        if equation and (self.evident(p) or self.evident(ZERO - p)):  # each term is 0
            return [(one, ZERO) for one, _ in single[:1]]
        seen = Counter([one for atoms, _ in p.terms for one in atoms])
        units = [(one, number(1, one) - p * number(f), f) for one, f in single if f * f == seen[one] == 1]
        if not equation:  # p itself takes the place of an atom
            units = [(one, v, f) for one, v, f in units if f == 1 and self.evident(v)]
        units.sort(key=lambda unit: (not self.evident(unit[1]), unit[0] in self.free, unit))
        return [(one, v if equation else v + number(1, one)) for one, v, _ in units[:1]]

    def shown(self, p: Polynomial) -> bool:
        """True only when p is nowhere negative in the case."""
        if self.empty or self.evident(p):
            return True
        for one in sorted(set.intersection(*[{*atoms} for atoms, _ in p.terms]) - self.free)[:1]:
            rest = [(atoms[: (k := atoms.index(one))] + atoms[k + 1 :], f) for atoms, f in p.terms]
            return self.shown(Polynomial.of(rest))
        return self.impossible(ZERO - p - ONE)

    def impossible(self, row: Polynomial) -> bool:
        """True only when the row is negative in the whole case. Products count as unknowns. Theory: T25."""
        rows = {row, *self.claims}
        while True:
            spend(self.work, sum([1 + len(p.terms) for p in rows]))
            rows = {p.tight() for p in rows if not self.evident(p)}
            if number(-1) in rows:
                return True
            signs = Counter([(atoms, f > 0) for p in rows for atoms, f in p.terms if atoms])
            cost = {a: signs[a, False] * (signs[a, True] + self.free.isdisjoint(a)) for a, _ in sorted(signs)}
            one = min(cost, key=lambda atoms: cost[atoms], default=())
            if not one or cost[one] > MOST_ROWS:
                return False
            rows |= {number(1, *one)} if self.free.isdisjoint(one) else set()
            by = [(dict(p.terms).get(one, 0), p) for p in rows]
            rows = {p for f, p in by if not f}
            rows |= {number(-g) * p + number(f) * q for f, p in by if f > 0 for g, q in by if g < 0}

    def show(self, where: str, named: Polynomial) -> Polynomial:
        """Show, or leave to a solver, that a number, which is returned, is nowhere negative in the case."""
        if not self.shown(p := self.of(named)):
            self.open.setdefault(smt_lib(self, p), where)
        return named


def smt_lib(case: Case, goal: Polynomial) -> str:
    """A script, and if the answer to it is unsat, the goal is nowhere negative. Theory: T25."""
    rows = [*case.claims, ZERO - goal - ONE]
    names = {a: f"u{k}" for k, a in enumerate(sorted({a for p in rows for a, _ in p.terms if a}))}
    lines = [f"(declare-const {u} Int) ; {'*'.join(a)}" for a, u in names.items()]
    lines += [f"(assert (>= {u} 0))" for a, u in names.items() if case.free.isdisjoint(a)]
    for p in rows:
        up, down = ([f" (* {abs(f)} {names.get(a, 1)})" for a, f in p.terms if f * s > 0] for s in (1, -1))
        lines.append(f"(assert (>= (+ 0 0{''.join(up)}) (+ 0 0{''.join(down)})))")
    return "\n".join(["(set-logic QF_LIA)", *lines, "(check-sat)", ""])


def normal(case: Case, view: View) -> View | None:
    """A view of named numbers in atoms, None when it is empty. Theory: T20."""
    axes = [(s, n) for s, n in [(case.of(s), case.of(n)) for s, n in view[1]] if n != ONE]
    spend(case.work, 1 + len(axes) ** 3 * max([len(s.terms) * len(n.terms) for s, n in axes], default=0))
    while pair := next((two for two in permutations(axes, 2) if two[1][0] == two[0][0] * two[0][1]), None):
        axes = [axis for axis in axes if axis is not pair[0] and axis is not pair[1]]
        axes.append((pair[0][0], pair[0][1] * pair[1][1]))
    return None if ZERO in [n for _, n in axes] else (case.of(view[0]), tuple(sorted(axes)))


def settle(where: str, case: Case, views: Mapping[View, int]) -> None:
    """The weighted views visit nothing, wherever in the case. Theory: T20, T25."""
    found, common, left = Counter[View](), Counter[Polynomial](), Counter[Polynomial]()
    for view, weight in views.items() if not case.empty else ():
        found.update({one: weight for one in [normal(case, view)] if one is not None})
    axes = sorted({axis for (_, own), weight in found.items() if weight for axis in own})
    for p in [p for s, n in axes for p in ([s] if s != ZERO else [n, n - ONE]) if not case.shown(p - ONE)]:
        loose = [one for atoms, _ in p.terms for one in atoms if one != "@"]
        need(loose and case.evident(p), "{}: a stride may be 0 or less", where)
        part = Polynomial.of([t for t in p.terms if len(t[0]) == 1] or [((max(loose, key=loose.count),), 1)])
        for half in (case.assuming(ZERO - part), case.assuming(part - ONE)):
            settle(where, half, views)
        return
    for (_, own), weight in found.items():
        common |= Counter([s for s, _ in own if weight])
    for (offset, own), weight in found.items():
        terms = Counter({offset: weight})
        for length in [s * n for s, n in own] + [*(common - Counter([s for s, _ in own])).elements()]:
            spend(case.work, 2 * len(terms) * (1 + len(offset.terms) + len(length.terms)))
            terms.subtract({e + length: c for e, c in [*terms.items()]})
        left.update(terms)
    off = sorted([(e, c) for e, c in left.items() if c or ZERO in common])  # by 1 - x^0 all would cancel
    need(not off or case.impossible(ZERO), "{}: {} monomials do not cancel, {}", where, len(off), off[:1])


def read(case: Case, raw: Any) -> Polynomial:
    """A number: an integer, or factors by products of names, as in ``{"a*b": -1, "": 3}``."""
    terms = list[tuple[tuple[str, ...], int]]()
    for name, factor in [("", raw)] if type(raw) is int else raw.items():
        terms.append((tuple(sorted(name.split("*") if name else ())), factor))
        good = type(factor) is int and abs(factor) < 2**128 and {*terms[-1][0]} <= case.values.keys()
        need(good, "malformed: {!a:.60} is no number", raw)
    return Polynomial.of(terms)


def read_all(where: str, case: Case, raw: Any) -> list[Polynomial]:
    """Numbers that are nowhere negative."""
    return [case.show(where, read(case, one)) for one in [] + raw]  # nothing but a list can be added to one


def read_view(where: str, case: Case, raw: Any, shape: list[Polynomial]) -> View:
    """A view none of whose strides is negative where it has elements."""
    offset, strides = [] + raw
    view = read(case, offset), tuple(zip([read(case, s) for s in [] + strides], shape, strict=True))
    for s in [s for s, _ in view[1] if not case.shown(case.of(s))]:
        reduce(lambda inside, n: inside.assuming(inside.of(n) - ONE), shape, case).show(where, s)
    return view


Map = tuple[dict[int, list[Polynomial]], dict[int, Counter[View]], list[Any]]


def read_map(where: str, case: Case, raw: Any) -> Map:
    """Shapes, visits to cancel, pieces; rank -1 is the parameter, and (a, b) is a + (1 + @) * b (T5, T25)."""
    need(raw.keys() == {"logical_shape", "ranks"}, "malformed: {}", where)
    shapes, cells, pieces = dict[int, list[Polynomial]](), dict[int, Counter[View]](), list[Any]()
    whole = {"shard_shape": raw["logical_shape"], "padding": [], "pieces": []}
    for name, shard in [("-1", whole), *raw["ranks"].items()]:
        rank, here = int(name), f"{where}, rank {name:.20}"
        good = shard.keys() == whole.keys() and name == str(max(rank, -1)) and rank not in shapes
        need(good and len(shard["shard_shape"]) <= 64, "malformed: {}", here)
        shapes[rank] = read_all(here, case, shard["shard_shape"])
        cells[rank] = Counter({(ZERO, ((ONE, prod(shapes[rank], start=ONE)),)): -1})
        for shape, view in [] + shard["padding"]:
            cells[rank][read_view(here, case, view, read_all(here, case, shape))] += 1
        for piece in [] + shard["pieces"]:
            shape, ranks = read_all(here, case, piece["shape"]), tuple([] + piece["locations"])
            (o, by), (p, to) = (read_view(here, case, piece[side], shape) for side in ("source", "dest"))
            good = len(piece) == 5 and SCALE.fullmatch(piece["scale"]) and all(type(r) is int for r in ranks)
            need(good and rank in ranks and ranks == tuple(sorted({*ranks})), "{}: locations or scale", here)
            pair = o + FOLD * p, tuple([(s + FOLD * t, n) for (s, n), (t, _) in zip(by, to, strict=True)])
            pieces.append((rank, ranks, piece["scale"], (o, by), pair))
            cells[rank][p, to] += 1
            cells[-1][o, by] += rank == ranks[0]
    return shapes, cells, pieces


def check_map(where: str, case: Case, leaf: Any) -> list[str]:
    """The map of a leaf is sound, and the function of its reference if it has one; what was not checked."""
    need({*leaf} - {"reference"} == {"map", "resting"}, "malformed: {}", where)
    shapes, cells, pieces = read_map(where, case, leaf["map"])
    asked = {f"shard/{rank}" if rank >= 0 else "parameter": views for rank, views in cells.items()}
    for rank, ranks, scale, source, _ in pieces:
        for other in ranks[1:] if rank == ranks[0] else (rank,):
            name = f"holders/{','.join(map(str, ranks))}/{scale}/{other}"
            asked.setdefault(name, Counter())[source] += 1 if rank == ranks[0] else -1
        spend(case.work, len(ranks) ** 2)
    if "reference" in leaf:
        others, _, there = read_map(f"{where}, reference", case, leaf["reference"])
        need(shapes.keys() == others.keys(), "{}: reference: other ranks", where)
        for one, two in [both for r in shapes for both in zip(shapes[r], others[r], strict=True)]:
            need(all(map(case.shown, map(case.of, (one - two, two - one)))), "{}: reference: shapes", where)
        for weight, (rank, _, scale, _, pair) in [(1, p) for p in pieces] + [(-1, p) for p in there]:
            asked.setdefault(f"reference/{rank}/{scale}", Counter())[pair] += weight
    resting = {name: f"{where}: {name} rests on {'' + why!a}" for name, why in leaf["resting"].items()}
    need(resting.keys() <= asked.keys(), "malformed: {}: resting", where)
    for name in [name for name in asked if name not in resting]:
        settle(f"{where}: {name}", case, asked[name])
    return [*resting.values()]


def check_tree(case: Case, tree: Any) -> tuple[int, dict[str, str], list[str]]:
    """Check every leaf that comparisons may lead to. Theory: T19, T25."""
    pending, maps, resting = [(tree, case)], 0, list[str]()
    while pending:
        node, case = pending.pop()
        spend(case.work, 1 + len(case.values))
        if node.keys() == {"if", "then", "else"}:
            relation, raw = [] + node["if"]
            both = (p := case.of(read(case, raw))), ZERO - p
            apart = [q - ONE for q in both if case.evident(q)]
            yes, no = {">=": ([p], [both[1] - ONE]), "==": (both, apart)}[relation]
            pending += [(node["else"], case.assuming(*no)), (node["then"], case.assuming(*yes))]
        elif node.keys() == {"divide", "by", "quotient", "remainder", "in"}:
            p, k, new = case.of(read(case, node["divide"])), node["by"], (node["quotient"], node["remainder"])
            good = type(k) is int and 0 < k < 2**128 and len({*new} - case.values.keys()) == 2
            need(good and all(map(NAME.fullmatch, new)), "malformed: a division")
            free = case.free if case.shown(p) else case.free | {new[0]}
            case = replace(case, free=free, values={**case.values, **{one: number(1, one) for one in new}})
            off, rest = p - number(k, new[0]) - number(1, new[1]), number(k - 1) - number(1, new[1])
            pending.append((node["in"], case.assuming(rest, ZERO - off, off)))
        elif node.keys() == {"end"}:
            case.show("a leaf of nothing", number({"outside": 0, "raises": 0, "nothing": -1}[node["end"]]))
        else:
            maps += 1
            resting += check_map(f"map {maps}", case, node)
    need(maps, "no comparison leads to a map")
    return maps, case.open, resting


def unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object none of whose names comes twice."""
    need(len(dict(members)) == len(members), "malformed: an object has a name twice")
    return dict(members)


def check_text(text: str) -> tuple[int, dict[str, str], list[str]]:
    """How many maps are right if solvers answer which scripts by unsat, and what is unchecked."""
    need(len(text) <= MOST_TEXT, "malformed: too long")
    try:
        certificate = json.loads(text, object_pairs_hook=unique)
        good = certificate["schema"] == "shardproof.sizes/1" and type(certificate["name"]) is str
        need(good and len(certificate) == 4, "malformed: the members of the certificate")
        sizes = certificate["sizes"]
        good = all(type(k) is int and abs(k) < 2**128 and NAME.fullmatch(name) for name, k in sizes.items())
        need(good, "malformed: sizes")
        values = {name: number(least) + number(1, name) for name, least in sizes.items()}
        return check_tree(Case(values, [MOST_WORK], {}), certificate["tree"])
    except MALFORMED as fault:
        raise Rejected(f"malformed: {type(fault).__name__} {fault}"[:300]) from fault


if __name__ == "__main__":
    try:
        maps, scripts, words = check_text(Path(sys.argv[1]).read_text("utf-8"))
        print(f"accepted: {maps} maps; unchecked: {words}; if {len(scripts)} scripts are unsat:", *scripts)
    except (IndexError, OSError, UnicodeDecodeError, Rejected) as fault:
        sys.exit(f"rejected: {fault}")
