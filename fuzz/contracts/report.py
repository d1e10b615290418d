"""Contracts and protocols against everything that judges them, as one report.

    python -m fuzz.contracts --report reports/contracts.md

The exit status is 70 when two answers differ or a defect was overlooked, else 0. All but the seconds is
decided by the seed.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz.contracts import judged as documents
from fuzz.contracts.part import Part
from fuzz.protocols import judged as protocols
from fuzz.protocols import judged_in_worlds as numbers
from fuzz.protocols import judged_on_gloo as gloo
from fuzz.report.section import Section
from fuzz.tables import table
from verifier.cli.progress import Done, part_progress
from verifier.diagnostics.report import EXIT_TOOL_BUG


def main(arguments: Sequence[str] | None = None) -> int:
    """Try everything and write the report."""
    options = _parser().parse_args(arguments)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with part_progress() as done:
        parts = list(_parts(options, done))
    command = shlex.join(
        ["python", "-m", "fuzz.contracts", *(sys.argv[1:] if arguments is None else arguments)]
    )
    text = report(parts, command)
    if options.report is not None:
        options.report.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    surprises = [words for part in parts for words in part.surprises]
    for words in surprises:
        print(words, file=sys.stderr)
    return EXIT_TOOL_BUG if surprises else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.contracts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=60_000, help="cuts with a geometry (60000)")
    parser.add_argument("--defects", type=int, default=100, help="documents for each defect (100)")
    parser.add_argument(
        "--programs", type=int, default=1200, help="random programs (1200, and more with roles)"
    )
    parser.add_argument("--worlds", type=int, default=3000, help="programs in worlds of four sizes (3000)")
    parser.add_argument("--mutants", type=int, default=40, help="protocols for each change (40)")
    parser.add_argument("--gloo", type=int, default=40, help="random programs on gloo; 0 for no gloo (40)")
    parser.add_argument(
        "--wait", type=float, default=0.3, help="seconds until a rank counts as stranded (0.3)"
    )
    parser.add_argument("--report", type=Path, help="markdown")
    return parser


def _parts(options: argparse.Namespace, done: Done) -> Iterator[Part]:
    yield documents.induced_maps(options.pairs, options.seed, done)
    yield documents.defects(options.defects, options.seed, done)
    yield documents.malformed_documents(done)
    yield protocols.programs(options.programs, options.seed, done)
    yield numbers.worlds(options.worlds, options.seed, done)
    yield protocols.mutants(options.mutants, options.seed, done)
    if options.gloo:
        yield gloo.corpus(options.wait, done)
        yield gloo.on_gloo(options.gloo, options.seed, options.wait, done)
    yield protocols.phases(done)


def report(parts: Sequence[Part], command: str) -> str:
    """All tables; the command at the end makes them again."""
    surprises = [words for part in parts for words in part.surprises]
    words = [
        "# Contracts and protocols",
        f"**{len(surprises)} surprises.**",
        *(f"- {surprise}" for surprise in surprises),
        *(drawn for part in parts for section in part.sections for drawn in _drawn(section)),
        "## Time",
        table(("part", "seconds"), [(part.name, f"{part.seconds:.0f}") for part in parts]),
        f"Command: `{command}`",
    ]
    return "\n\n".join(words) + "\n"


def _drawn(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    yield section.words
    yield table(section.head, section.rows)
