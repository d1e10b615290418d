"""``shardproof render``: a JSON report in other formats."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath, UnreadableError, read_text, shown
from verifier.diagnostics.wording import escaped
from verifier.render.json_fields import ReportFormatError
from verifier.render.json_reading import read_report

MOST_MEBIBYTES = 256
"""A larger report is not read."""


@click.command("render")
@click.argument("path", type=NamedPath(), metavar="RUN.json")
@report_options
@click.pass_context
def command(context: click.Context, /, path: Path, output: Output) -> None:
    """Render a report that --json-output wrote, with the exit code of the run it reports.

    \b
    shardproof audit checkpoint/ --json-output run.json
    shardproof render run.json --format concise
    """
    try:
        report = read_report(read_text(path, mebibytes=MOST_MEBIBYTES))
    except UnreadableError as error:
        raise click.ClickException(f"SM001 {shown(path)}: {error}") from error
    except ReportFormatError as error:
        raise click.ClickException(f"{shown(path)} is no report: {escaped(str(error))}") from error
    output.deliver(report)
    context.exit(report.exit_code)
