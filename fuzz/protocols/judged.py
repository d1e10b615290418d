"""Protocols at random and with labelled changes, held against every run, the formula and a larger world."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable

from fuzz.contracts.part import Part, by_count, timed
from fuzz.protocols.differential import (
    MOST_STATES,
    MOST_WALKS,
    Compared,
    least_against_more,
    rules_by_search,
    search_against_formula,
    search_against_walks,
)
from fuzz.protocols.drawing import draw_disciplined, draw_protocol
from fuzz.protocols.mutants import PROTOCOL_MUTANTS, ProtocolMutant
from fuzz.report.section import Row, Section
from verifier.cli.progress import Done
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.language import Collective, Protocol, Repeat, Try, Vote
from verifier.symbolic.protocols import check_formula

FAMILIES: tuple[tuple[str, bool, bool], ...] = (
    ("names of their own", False, False),
    ("names shared", True, False),
    ("roles, a group of some ranks", False, True),
    ("roles, names shared", True, True),
)
"""Name, whether names are shared, whether there are roles."""
COMPARISONS: dict[str, Callable[[Protocol], Compared]] = {
    "search = runs": lambda protocol: search_against_walks(protocol, protocol.least_ranks),
    "search = z3": lambda protocol: search_against_formula(protocol, protocol.least_ranks),
}
PHASES = 200
ABOUT_PROGRAMS = """\
Random programs: two groups, votes, agreements, collectives, nested tries, uniform and local branches, loops.
*search*: every reachable state. *runs*: the program walked step by step on every rank, under every decision
there is. *z3*: one formula for all ranks side by side. The same set of rules is demanded of search and runs.
Of z3 the same verdict; without loops also rule by rule; where two places have equal collectives only that its
"nothing" is nothing, for it tells places apart and a group does not. *open*: more than {walks:,}
runs or {states:,} states."""
ABOUT_RULES = """\
What the search finds in them. S1: a rank waits for one that never comes. S2: members are in different
collectives. S3: some return and some raise. S4: state has changed although somebody raises."""
ABOUT_MUTANTS = """\
A disciplined protocol tries and votes on what may fail and changes state at the end: it violates nothing.
Each change must break one of the rules of *must* and none beyond *may*, or none at all. *killed*: it does.
*survived*: it breaks none of them. *beyond*: it breaks another. The search, every run and z3 are asked."""


def programs(count: int, seed: int, done: Done) -> Part:
    """Random programs; the first family in full, a quarter as many of each other one."""
    part = Part("random programs", done)
    counts = [count, *[count // 4] * (len(FAMILIES) - 1)]
    compared: Counter[tuple[str, str, str]] = Counter()
    rules: Counter[tuple[str, str]] = Counter()
    with timed(part, sum(counts)) as next_item:
        for (family, alike, roles), many in zip(FAMILIES, counts, strict=True):
            for index in range(many):
                name = f"{seed}:{family}:{index}"
                protocol = draw_protocol(random.Random(name), alike=alike, roles=roles)
                found = rules_by_search(protocol, protocol.least_ranks)
                rules[_set(found), family] += 1
                for way, compare in COMPARISONS.items():
                    came = compare(protocol)
                    compared[family, way, came.outcome] += 1
                    if came.outcome == "differ":
                        part.surprises.append(f"{name}: {came.words}")
                next_item()
    part.sections += [_agreement(compared, counts), _rules_table(rules)]
    return part


def _agreement(compared: Counter[tuple[str, str, str]], counts: list[int]) -> Section:
    rows: list[Row] = []
    for (family, _, _), many in zip(FAMILIES, counts, strict=True):
        outcomes = ("agree", "differ", "not compared")
        rows.append(
            (family, many, *[compared[family, way, word] for way in COMPARISONS for word in outcomes])
        )
    head = [cell for way in COMPARISONS for cell in (way, "differ", "open")]
    words = ABOUT_PROGRAMS.format(walks=MOST_WALKS, states=MOST_STATES)
    return Section("Random protocols", ("family", "programs", *head), tuple(rows), words)


def _rules_table(rules: Counter[tuple[str, str]]) -> Section:
    families = [family for family, _, _ in FAMILIES]
    rows: list[Row] = [
        (words, *[rules[words, family] for family in families]) for words in sorted({key[0] for key in rules})
    ]
    return Section("Rules that random protocols violate", ("rules", *families), tuple(rows), ABOUT_RULES)


def _set(rules: frozenset[str] | None) -> str:
    return "open" if rules is None else " ".join(sorted(rules)) or "none"


def mutants(cases: int, seed: int, done: Done) -> Part:
    """Every labelled change of disciplined protocols."""
    part = Part("changed protocols", done)
    rows: list[Row] = []
    with timed(part, len(PROTOCOL_MUTANTS) * cases) as next_item:
        for mutant in PROTOCOL_MUTANTS.values():
            outcomes: Counter[str] = Counter()
            rules: Counter[str] = Counter()
            for index in range(cases):
                name = f"{seed}:{mutant.name}:{index}"
                changed = changed_protocol(mutant, name, part)
                if changed is not None:
                    found = frozenset(simulate(changed).rules)
                    outcome = outcome_of(mutant, found)
                    outcomes[outcome] += 1
                    rules[_set(found)] += 1
                    if outcome in ("survived", "beyond"):
                        part.surprises.append(f"{name}: {_set(found)}: {changed}")
                next_item()
            made = sum(outcomes.values())
            words = [" ".join(sorted(some)) or "-" for some in (mutant.must, mutant.may)]
            cells = [outcomes[word] for word in ("killed", "survived", "beyond", "safe")]
            rows.append((mutant.name, *words, made, *cells, by_count(rules)))
    head = ("change", "must", "may", "made", "killed", "survived", "beyond", "safe as it must be", "rules")
    part.sections.append(Section("Changed protocols", head, tuple(rows), ABOUT_MUTANTS))
    return part


def changed_protocol(mutant: ProtocolMutant, name: str, part: Part) -> Protocol | None:
    """A disciplined protocol with the change. Both are asked of everybody."""
    rng = random.Random(name)
    protocol = draw_disciplined(rng)
    changed = mutant(rng, protocol)
    if rules := rules_by_search(protocol, 2):
        part.surprises.append(f"{name}: disciplined, but {_set(rules)}: {protocol}")
    if changed is not None:
        part.surprises += [
            f"{name}: {came.words}"
            for came in (compare(changed) for compare in (*COMPARISONS.values(), least_against_more))
            if came.outcome == "differ"
        ]
    return changed


def outcome_of(mutant: ProtocolMutant, rules: frozenset[str]) -> str:
    """What became of a change."""
    if not rules <= mutant.may:
        return "beyond"
    if not mutant.must:
        return "safe"
    return "killed" if rules & mutant.must else "survived"


def phases(done: Done) -> Part:
    """How long many voted phases take."""
    part = Part("voted phases", done)
    phase = (Try((Vote("world", "inner"),)), Vote("world"), Collective("world", "all_reduce"))
    protocol = Protocol(name="phases", steps=(Repeat(PHASES, phase),))
    rows: list[Row] = []
    with timed(part, 2) as next_item:
        began = time.process_time()
        found = simulate(protocol, 2)
        rows.append(("search", f"{found.states:,} states", f"{time.process_time() - began:.2f}"))
        next_item()
        began = time.process_time()
        safe = check_formula(protocol, 2).safe
        rows.append(("z3", "", f"{time.process_time() - began:.2f}"))
        next_item()
    if found.rules or not found.complete or not safe:
        part.surprises.append(f"{PHASES} voted phases: the search finds {found.rules}, z3 safe {safe}")
    words = f"{PHASES} phases of three votes and collectives, two ranks; seconds of the processor."
    part.sections.append(Section("Voted phases", ("who", "size", "seconds"), tuple(rows), words))
    return part
