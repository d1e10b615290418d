"""One case of a campaign, shown: its maps, everything that is asked of it, what came of it."""

from __future__ import annotations

import json

import click

from fuzz.campaign import run_case
from fuzz.cases import case_at
from fuzz.outcomes import DISAGREEMENT
from fuzz.registry import asked_closely
from fuzz.target import Target
from verifier.certificates.encode import Certificate
from verifier.diagnostics.report import EXIT_PROVED, EXIT_REFUTED, EXIT_TOOL_BUG


def show_case(target: Target, seed: int, index: int) -> int:
    """Prints the case and returns the exit code it stands for."""
    case = case_at(target.selection, seed, index)
    stated = Certificate(case.shard_map, case.expectation).to_json()
    click.echo(f"case {case.name}: layout {case.layout}, mutant {case.mutant or 'none'}")
    click.echo(f"map: {json.dumps(stated['map'], sort_keys=True)}")
    click.echo(f"expectation: {json.dumps(stated['expectation'], sort_keys=True)}")
    if case.mutant is not None:
        clean = Certificate(case.clean, case.expectation).to_json()["map"]
        click.echo(f"clean: {json.dumps(clean, sort_keys=True)}")
    tally = run_case(asked_closely(target), seed, index)
    for label, count in sorted(tally.counts.items()):
        if label[0] != "finding":
            click.echo(f"  {' / '.join(word for word in label if word)}: {count}")
    for found in tally.findings(*{kind for kind, _ in tally.examples}):
        click.echo(f"{found.kind}: {found.key}\n  {found.words}")
    if tally.seen(DISAGREEMENT):
        return EXIT_TOOL_BUG
    return EXIT_REFUTED if tally.examples else EXIT_PROVED
