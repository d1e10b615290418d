"""What a campaign against our own engines found, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.outcomes import Tally
from fuzz.report.section import Row, Section, grid, share, shares

METHOD = """\
Each map is walked address by address and judged. Its questions are put to every engine, and the answers are
held against a count of all visits: the answer, the least wrong place, its excess. The certificate of a proved
map is checked as it is and with the evidence of another engine; on samples spread over all layouts it is also
checked with one number changed so that the map is wrong, z3 and isl are asked, torch runs the map, and the
report is drawn twice in every format. Where the answer is certain by construction the walk is held against
it."""


def prover_sections(tally: Tally) -> Iterator[Section]:
    """The sections, those of samples that were not taken left out."""
    yield from shares("Maps", "walk", tally.row("map"), METHOD)
    yield from shares("Verdicts", "judge", tally.row("verdict"))
    yield from shares("Certain by construction", "answer", tally.row("by construction"))
    yield from grid("Layouts", "layout", tally, ("layout",), ("right", "wrong"))
    yield from grid(
        "Mutants",
        "mutant",
        tally,
        ("mutant",),
        ("right", "wrong"),
        "`none` is a map that is right by construction. A mutant may be right: what it is says the walk.",
    )
    yield from grid("Questions", "question", tally, ("question",), ("holds", "fails", "without meaning"))
    yield from _engines(tally)
    yield from grid("Certificates", "evidence of", tally, ("certificate",), ("checked", "tampered"))
    yield from _torch(tally)
    yield from shares("Drawings", "verdict", tally.row("drawing"))


def _engines(tally: Tally) -> Iterator[Section]:
    rows: list[Row] = []
    for name in tally.row("engine"):
        found = tally.row("engine", name)
        asked = sum(found.values())
        decided = asked - found.get("unknown", 0)
        rows.append((name, asked, found.get("holds", 0), found.get("fails", 0), share(decided, asked)))
    head = ("engine", "asked", "holds", "fails", "decided")
    sampled = tally.counts["sample", "z3"]
    words = f"Questions of all cases; z3 and isl were asked about the questions of {sampled:,} cases."
    if rows:
        yield Section("Engines", head, tuple(rows), words)


def _torch(tally: Tally) -> Iterator[Section]:
    outcomes: dict[str, int] = {}
    alone = 0
    for layout in tally.row("oracle"):
        for outcome, count in tally.row("oracle", layout).items():
            outcomes[outcome] = outcomes.get(outcome, 0) + count
            alone += 0 if outcome.endswith("against the reference") else count
    if outcomes:
        rows = tuple(sorted(outcomes.items()))
        words = f"{alone:,} maps were run in torch alone, some of them also against their reference."
        yield Section("torch", ("outcome of the replay", "maps"), rows, words)
