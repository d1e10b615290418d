"""What the installed DeepSpeed makes of corrupted maps: several campaigns in one report.

    python -m fuzz.consumers.dossier -j 2 --report reports/fuzz-deepspeed-0.19.8.md

The exit status is 0 when shardproof refutes every wrong map that DeepSpeed takes silently, 3 when it leaves
one undecided, 70 when it contradicts itself.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.campaign import Extent, run_campaign
from fuzz.cases import Selection
from fuzz.consumers.deepspeed import DeepSpeedTarget
from fuzz.outcomes import DISAGREEMENT, SILENT, Tally
from fuzz.registry import asked_about, layouts_of, mutants_of
from fuzz.report.acceptance import acceptance_sections
from fuzz.shrinking.triage import Triaged, triage
from fuzz.store import opened
from fuzz.tables import table
from fuzz.target import Target
from verifier.audit.executors import Workers, workers
from verifier.certificates.encode import map_to_json
from verifier.diagnostics.report import EXIT_PROVED, EXIT_TOOL_BUG, EXIT_UNDECIDED

INTRODUCTION = """\
Each case is a map built by a constructor of the release, TP 2 to 4, with one defect. Shards are cut from the
map before its defect by a walk of every index; the release checks the map with the defect, rebuilds the
parameter from these shards, extracts shards from the right parameter, and plans transfers from and to the
right map. Memory that it allocates and does not write is NaN. "Refused by name" is ValueError, AssertionError
or NotImplementedError; any other exception is "raised something else". A published campaign of the same kind
has 24.6 % of rebuilds (441 of 2000 on four plain constructors) and 32.6 % of extracts silently wrong; the
share depends on how far numbers move and on how many of them nobody walks."""
EXAMPLES = """\
The least example of each distinct kind, shrunk while the same operation stays wrong in the same way. The map
that the shards were cut from is called clean."""


@dataclass(frozen=True, slots=True)
class Part:
    """One campaign of the report."""

    title: str
    layouts: str
    mutants: str
    cases: int
    right: float = 0.0

    def target(self, size: int) -> Target:
        """The release, asked about these cases."""
        selection = Selection(
            layouts_of(self.layouts), mutants_of(self.mutants), size, self.right, dress=False
        )
        return asked_about(DeepSpeedTarget(), selection)

    def command(self, seed: int, size: int) -> str:
        """What runs it alone."""
        return (
            f"shardproof fuzz --target deepspeed --layouts {self.layouts} --mutants {self.mutants} "
            f"--size {size} --right {self.right:g} --cases {self.cases} --seed {seed}"
        )


PARTS = (
    Part("Four plain constructors: any one offset or stride", "ds-plain", "any-number", 2000),
    Part("Four plain constructors: one offset or stride that matters", "ds-plain", "numbers", 2000),
    Part("All layout families: any one offset or stride", "ds-all", "any-number", 4000),
    Part("All layout families: one offset or stride that matters", "ds-all", "numbers", 4000),
    Part("All layout families: the other fields", "ds-all", "others", 4000),
    Part("Maps without a defect", "ds-all", "numbers", 2000, right=1.0),
)


def run_part(part: Part, seed: int, size: int, found: Workers, store: Path) -> Tally:
    """All cases of one campaign."""
    target = part.target(size)
    with opened(store, target) as kept:
        return run_campaign(target, Extent((seed,), part.cases), kept, found).tally


def report(command: str, found: Sequence[tuple[Part, Tally]], seed: int, size: int) -> str:
    """The report, as markdown."""
    total = _sum(found)
    target = PARTS[0].target(size)
    cases = sum(part.cases for part, _ in found)
    parts = [
        f"# Fuzzing {target.version}",
        f"Command: `{command}`",
        INTRODUCTION,
        f"**{cases:,} cases; {total.seen(SILENT):,} operations silently wrong; {_refuted(total)}.**",
    ]
    for part, tally in found:
        parts += [f"## {part.title}", f"`{part.command(seed, size)}`", *_tables(tally)]
    parts += ["## Examples", EXAMPLES, *_examples(total, target)]
    return "\n\n".join(parts) + "\n"


def _sum(found: Sequence[tuple[Part, Tally]]) -> Tally:
    total = Tally()
    for _, tally in found:
        total.merge(tally)
    return total


def _refuted(total: Tally) -> str:
    """How many of the wrong maps that were taken silently shardproof refutes."""
    asked = total.row("prover", "with reference")
    taken, refuted = sum(asked.values()), asked.get("refuted", 0)
    share = "all" if refuted == taken else f"{refuted:,} (NOT all)"
    return f"shardproof refutes {share} of the {taken:,} wrong maps behind them"


def exit_status(total: Tally) -> int:
    """What the process ends with."""
    if total.seen(DISAGREEMENT):
        return EXIT_TOOL_BUG
    asked = total.row("prover", "with reference")
    return EXIT_UNDECIDED if asked.keys() - {"refuted"} else EXIT_PROVED


def _tables(tally: Tally) -> Iterator[str]:
    for section in acceptance_sections(tally):
        yield f"### {section.title}"
        yield table(section.head, section.rows)


def _examples(total: Tally, target: Target) -> Iterator[str]:
    for triaged in triage(sorted(total.examples.values(), key=lambda f: (f.kind, f.order)), target):
        yield _example(triaged, total)


def _example(triaged: Triaged, total: Tally) -> str:
    found, example = triaged.finding, triaged.example
    named = [found, *triaged.others]
    lines = [
        f"- **{one.kind}**, {one.key} ({total.counts['finding', one.kind, one.key]:,} times)" for one in named
    ]
    lines.append(f"  {found.words}")
    lines.append(f"  map `{json.dumps(map_to_json(example.shard_map))}`")
    if example.clean is not None:
        lines.append(f"  clean `{json.dumps(map_to_json(example.clean))}`")
    if not triaged.reproduced:
        lines.append("  as it was found: the smaller ones did not show it")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts and write the report."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.consumers.dossier", description=__doc__)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=240, help="most elements of a parameter")
    parser.add_argument("--share", type=float, default=1.0, help="of the cases of each part")
    parser.add_argument("--store", type=Path, default=Path("shardproof-fuzz.sqlite"))
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args(arguments)
    found: list[tuple[Part, Tally]] = []
    with workers(options.jobs) as busy:
        for part in PARTS:
            shorter = Part(
                part.title, part.layouts, part.mutants, max(1, round(part.cases * options.share)), part.right
            )
            found.append((shorter, run_part(shorter, options.seed, options.size, busy, options.store)))
            print(f"{part.title}: {shorter.cases} cases", flush=True)
    words = [
        "python",
        "-m",
        "fuzz.consumers.dossier",
        "--seed",
        str(options.seed),
        "--size",
        str(options.size),
    ]
    if options.share != 1.0:
        words += ["--share", str(options.share)]
    command = shlex.join([*words, "--report", str(options.report)])
    options.report.write_text(report(command, found, options.seed, options.size), encoding="utf-8")
    return exit_status(_sum(found))


if __name__ == "__main__":
    sys.exit(main())
