"""Protocols on real process groups: the corpus, changed ones and random ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from fuzz.contracts.part import Part, timed
from fuzz.protocols.drawing import draw_disciplined, draw_protocol
from fuzz.protocols.mutants import PROTOCOL_MUTANTS
from fuzz.protocols.on_gloo import PATIENCE, gloo_against_walks
from fuzz.report.section import Row, Section
from verifier.cli.progress import Done
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.decoding import decode_protocol, expected_rules
from verifier.contracts.protocols.language import Protocol
from verifier.oracle.collectives.judging import observe
from verifier.symbolic.protocols import check_formula

CORPUS = Path(__file__).parents[2] / "corpora" / "contracts" / "protocols"
COLUMNS = ("programs", "runs", "all", "part", "more")
ABOUT_CORPUS = """\
The recorded protocols. *search*: the rules it finds; the same are demanded of the file, and of gloo: one
fault on one rank is enough to show everything about these. *z3*: whether anything can go wrong. A rank on
gloo counts as stranded after {wait} s; a difference counts if it is there with {longer} s, too."""
ABOUT_RANDOM = """\
Changed protocols, one of each kind, and random ones, with as many ranks as the search takes. Each plan (no
fault, or one fault on one rank, under every uniform choice) is run on gloo, where every rank must end as in
the run of the program with the same decisions. *all*: over its plans gloo shows every rule that the search
finds; *part*: some of them, the others need more than one fault; *more*: what the search does not find, which
must not be. Wait: {wait} s, and {longer} s where it matters."""


def corpus(wait: float, done: Done, folder: Path = CORPUS) -> Part:
    """Every recorded protocol by search, z3 and gloo."""
    part = Part("recorded protocols", done)
    rows: list[Row] = []
    paths = sorted(folder.glob("*.json"))
    with timed(part, len(paths)) as next_item:
        for path in paths:
            document = json.loads(path.read_text(encoding="utf-8"))
            protocol = decode_protocol(document)
            found, safe = simulate(protocol), check_formula(protocol).safe
            seen = observe(protocol, wait_seconds=wait)
            if seen.rules != found.rules:
                seen = observe(protocol, wait_seconds=PATIENCE * wait)
            alike = expected_rules(document) == found.rules == seen.rules and safe is not bool(found.rules)
            words = [" ".join(rules) or "none" for rules in (found.rules, seen.rules)]
            verdict = {True: "nothing", False: "something", None: "gave up"}[safe]
            rows.append((path.stem, found.ranks, found.states, words[0], verdict, words[1], seen.runs))
            if not alike:
                part.surprises.append(f"{path.stem}: search {found.rules}, z3 {verdict}, gloo {seen.rules}")
            next_item()
    head = ("protocol", "ranks", "states", "search", "z3", "gloo", "runs on gloo")
    words_about = ABOUT_CORPUS.format(wait=wait, longer=PATIENCE * wait)
    part.sections.append(Section("Recorded protocols", head, tuple(rows), words_about))
    return part


def on_gloo(count: int, seed: int, wait: float, done: Done) -> Part:
    """One changed protocol of each kind, and so many random ones."""
    part = Part("protocols on gloo", done)
    counted = {family: dict.fromkeys(COLUMNS, 0) for family in ("changed", "random")}
    with timed(part, count + len(PROTOCOL_MUTANTS)) as next_item:
        for family, name, protocol in _protocols(count, seed):
            found = set(simulate(protocol).rules)
            came = gloo_against_walks(protocol, protocol.least_ranks, wait_seconds=wait)
            if came.difference is not None:
                part.surprises.append(f"{name}: {came.difference}")
            seen = set(came.rules)
            row = counted[family]
            row["programs"] += 1
            row["runs"] += came.runs
            row["all" if seen == found else "part" if seen < found else "more"] += 1
            if not seen <= found:
                part.surprises.append(
                    f"{name}: gloo shows {sorted(seen)}, search {sorted(found)}: {protocol}"
                )
            next_item()
    rows: list[Row] = [(family, *row.values()) for family, row in counted.items()]
    words = ABOUT_RANDOM.format(wait=wait, longer=PATIENCE * wait)
    part.sections.append(Section("Protocols on gloo", ("family", *COLUMNS), tuple(rows), words))
    return part


def _protocols(count: int, seed: int) -> Iterator[tuple[str, str, Protocol]]:
    """Family, name and program."""
    for mutant in PROTOCOL_MUTANTS.values() if count else ():
        name = f"{seed}:{mutant.name}:gloo"
        rng = random.Random(name)
        changed = mutant(rng, draw_disciplined(rng))
        if changed is not None:
            yield "changed", name, changed
    for index in range(count):
        name = f"{seed}:gloo:{index}"
        yield "random", name, draw_protocol(random.Random(name), roles=index % 4 == 3)
