"""``shardproof contract simulate``: protocols of collectives, in every order of faults."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from verifier.audit.check import tool_versions
from verifier.audit.simulations import SimulationSettings, simulated
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath
from verifier.diagnostics.report import Report


@click.command("simulate")
@click.argument("paths", nargs=-1, required=True, type=NamedPath(), metavar="PROTOCOL...")
@click.option(
    "--ranks",
    type=click.IntRange(min=1, max=16),
    default=None,
    help="Size of the world; by default one that goes wrong if one of any size does: two ranks, beside "
    "those that have a role or are in a group of some ranks.",
)
@click.option("--cross-check", is_flag=True, help="Also decide it by z3; a disagreement is a bug of ours.")
@click.option(
    "--gloo",
    is_flag=True,
    help="Also run it on real process groups with a fault at every local step (extra: oracle).",
)
@click.option(
    "--wait",
    "wait_seconds",
    type=click.FloatRange(min=0.05, max=60),
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="How long a rank waits on gloo before it counts as stranded.",
)
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    paths: tuple[Path, ...],
    ranks: int | None,
    cross_check: bool,
    gloo: bool,
    wait_seconds: float,
    output: Output,
) -> None:
    """Search every state of a protocol: is anybody stranded, mismatched, or left with half a change?

    S1: a rank waits for one that never comes. S2: members are in different collectives. S3: some return and
    some raise. S4: state has changed although somebody raises.

    \b
    shardproof contract simulate corpora/contracts/protocols/refresh_without_preamble.json --gloo
    """
    if gloo and find_spec("torch") is None:
        raise click.ClickException("--gloo needs torch: pip install 'shardproof[oracle]'")
    settings = SimulationSettings(ranks=ranks, cross_check=cross_check, gloo=gloo, wait_seconds=wait_seconds)
    found = [simulated(path, settings) for path in paths]
    unchecked = tuple([one.unchecked for one in found if one.unchecked is not None])
    report = Report(tool=tool_versions(), subjects=tuple([one.subject for one in found]), unchecked=unchecked)
    output.deliver(report)
    context.exit(report.exit_code)
