"""A small universe, completely: every map of stated families, every question of stated listings.

    python -m fuzz.universe -j 2 --report reports/universe.md

Each map is judged and walked; each question it gives rise to is put to the engines once. Each listed question
is put to the engines and counted. Exit status 0 when nothing disagreed, 70 when something did.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fuzz.agreement import disagreements
from fuzz.asking import ask
from fuzz.certified import refusal
from fuzz.prover import ALWAYS, BUDGET
from fuzz.tables import table
from fuzz.universe.maps import FAMILIES, Family
from fuzz.universe.questions import LISTINGS, Listing
from fuzz.walk import walk
from verifier.answers import Answer
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.certificates.encode import Certificate
from verifier.diagnostics.report import EXIT_TOOL_BUG
from verifier.engine import Engine
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.questions import Question
from verifier.verdicts import Proved

KEPT = 20
"""Most disagreements kept in words for each part; all are counted."""
EVERYTHING = """\
Every map of the families was judged and walked address by address, and the certificate of every proof was
checked. Every question that arose, and every question of the listings, was put to the engines ({engines})
and counted."""
SOUNDNESS = Expectation()


@dataclass(slots=True)
class Found:
    """What came of a part of the universe: counts, and the first disagreements in words."""

    counts: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def disagree(self, words: str) -> None:
        """One more disagreement; all are counted, the first are kept."""
        self.counts["disagreements"] += 1
        if len(self.disagreements) < KEPT:
            self.disagreements.append(words)

    def merge(self, other: Found) -> None:
        """Another part, after this one."""
        self.counts.update(other.counts)
        self.disagreements += other.disagreements[: max(0, KEPT - len(self.disagreements))]


@dataclass(slots=True)
class Compared:
    """The portfolio, which puts each question to all engines before it answers."""

    engines: tuple[Engine, ...]
    found: Found
    name: str = "auto"

    def decide(self, question: Question, budget: Budget) -> Answer:
        """The answer of the portfolio; whatever an engine gets wrong is noted."""
        asked = ask(question, self.engines, budget)
        self.found.counts["questions"] += 1
        for words in asked.disagreements:
            self.found.disagree(f"{words}; {question}")
        return engine_named("auto").decide(question, budget)


def engines() -> tuple[Engine, ...]:
    """The engines that are compared."""
    return tuple(engine_named(name) for name in ALWAYS)


def judge_all(first: int, *, family: Family) -> Found:
    """The maps of one family whose least piece is ``first``."""
    return judge_maps(family.maps(first))


def judge_maps(maps: Iterable[ShardMap]) -> Found:
    """Maps judged and walked, with one memory of the questions they give rise to."""
    found = Found()
    answering = Answering(Compared(engines(), found), BUDGET)
    for shard_map in maps:
        walked = walk(shard_map, SOUNDNESS)
        judgement = judge(shard_map, SOUNDNESS, answering)
        found.counts["maps"] += 1
        found.counts["right" if walked.ok else "wrong"] += 1
        found.counts[type(judgement.verdict).__name__.lower()] += 1
        words = list(disagreements(walked, judgement, shard_map, SOUNDNESS))
        if isinstance(judgement.verdict, Proved):
            reason = refusal(judgement.verdict.certificate)
            if reason is not None:
                words.append(f"certificate refused: {reason}")
        for word in words:
            found.disagree(f"{word}; {Certificate(shard_map, SOUNDNESS).to_text()}")
    return found


def ask_all(part: int, *, listing: Listing) -> Found:
    """The questions of one part of a listing."""
    found = Found()
    compared = engines()
    for question in listing.questions(part):
        asked = ask(question, compared, BUDGET)
        found.counts["questions"] += 1
        found.counts[{None: "without meaning", True: "right", False: "wrong"}[asked.holds]] += 1
        for words in asked.disagreements:
            found.disagree(f"{words}; {question}")
    return found


Part = Family | Listing
UNIVERSE: tuple[Part, ...] = (*FAMILIES, *LISTINGS)


def keys(part: Part) -> range:
    """The tasks that a part falls into; together they are all of it."""
    return range(-1, len(part.entries)) if isinstance(part, Family) else range(part.parts)


def explore(position: int, key: int) -> Found:
    """One task of one part of ``UNIVERSE``."""
    part = UNIVERSE[position]
    return judge_all(key, family=part) if isinstance(part, Family) else ask_all(key, listing=part)


def exhausted(position: int, jobs: int) -> Found:
    """One part of ``UNIVERSE``, completely; the same whatever the number of processes."""
    total = Found()
    task = partial(explore, position)
    if jobs == 1:
        for key in keys(UNIVERSE[position]):
            total.merge(task(key))
        return total
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(task, keys(UNIVERSE[position]), chunksize=4):
            total.merge(found)
    return total


def report(found: Sequence[tuple[Part, Found]], command: str) -> str:
    """The report, as markdown."""
    maps = [(part, one) for part, one in found if isinstance(part, Family)]
    questions = [(part, one) for part, one in found if isinstance(part, Listing)]
    total = sum(one.counts["disagreements"] for _, one in found)
    words = [f"- {word}" for _, one in found for word in one.disagreements]
    judged, asked = (
        sum(one.counts[w] for _, one in some) for w, some in (("maps", maps), ("questions", questions))
    )
    numbers = ("maps", "right", "wrong", "undecided", "questions")
    return (
        "\n\n".join(
            [
                "# A small universe, completely",
                f"Command: `{command}`",
                EVERYTHING.format(engines=", ".join(ALWAYS)),
                f"**{judged:,} maps and {asked:,} listed questions, {total} disagreements.**",
                *_left_out(found),
                *words,
                "## Maps",
                "The order of pieces in a list is left out. Questions are counted once per task of a family.",
                table(
                    ("family", *numbers),
                    [(part.name, *(one.counts[number] for number in numbers)) for part, one in maps],
                ),
                "\n".join(f"- {part.name}: {part.bounds}." for part, _ in maps),
                "## Questions",
                table(
                    ("listing", "questions", "holds", "fails", "without meaning"),
                    [
                        (
                            part.name,
                            *(one.counts[w] for w in ("questions", "right", "wrong", "without meaning")),
                        )
                        for part, one in questions
                    ],
                ),
                "\n".join(f"- {part.name}: {part.bounds}." for part, _ in questions),
            ]
        )
        + "\n"
    )


def _left_out(found: Sequence[tuple[Part, Found]]) -> list[str]:
    done = {part.name for part, _ in found}
    missing = [part.name for part in UNIVERSE if part.name not in done]
    return [f"Not listed in this run: {'; '.join(missing)}."] if missing else []


def main(arguments: Sequence[str] | None = None) -> int:
    """List the universe and write the report."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.universe", description=__doc__)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--report", type=Path)
    names = [part.name for part in UNIVERSE]
    parser.add_argument("--part", action="append", choices=names, metavar="NAME", help="only this part")
    options = parser.parse_args(arguments)
    found: list[tuple[Part, Found]] = []
    for name in options.part or names:
        position = names.index(name)
        found.append((UNIVERSE[position], exhausted(position, options.jobs)))
        counts = found[-1][1].counts
        size = counts["maps"] or counts["questions"]
        print(f"{name}: {size}, {counts['disagreements']} disagreements", flush=True)
        if options.report is not None:  # after each part, so that a stopped run loses nothing
            command = shlex.join(["python", "-m", "fuzz.universe.exhaustive", *(arguments or sys.argv[1:])])
            options.report.write_text(report(found, command), encoding="utf-8")
    return EXIT_TOOL_BUG if any(one.counts["disagreements"] for _, one in found) else 0
