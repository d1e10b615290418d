"""``shardproof contract check``: the rules of contracts."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.audit.check import Settings
from verifier.audit.contracts import check_contracts
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=NamedPath(), metavar="FILE...")
@report_options
@click.pass_context
def command(context: click.Context, /, paths: tuple[Path, ...], output: Output) -> None:
    """Check contract documents: types, rules among their claims, and the cut of a case.

    FILE is a contract, a case about one, or a folder of them. Each finding names its rule.

    \b
    shardproof contract check adam8bit.json
    """
    report = check_contracts(paths, Settings())
    output.deliver(report)
    context.exit(report.exit_code)
