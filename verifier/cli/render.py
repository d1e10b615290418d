"""``shardproof render``: a JSON report in another format."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.cli.output import FORMATS, color_option, rendered, use_color
from verifier.cli.paths import NamedPath, UnreadableError, read_text, shown
from verifier.diagnostics.wording import escaped
from verifier.render.json_fields import ReportFormatError
from verifier.render.json_reading import read_report
from verifier.render.lines import ColorMode

MOST_MEBIBYTES = 64
"""A larger report is not read."""


@click.command("render")
@click.argument("path", type=NamedPath(), metavar="RUN.json")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@color_option
@click.pass_context
def command(context: click.Context, /, path: Path, form: str, color: ColorMode) -> None:
    """Render a report that --json-output wrote, with the exit code of the run it reports.

    \b
    shardproof audit checkpoint/ --json-output run.json
    shardproof render run.json --format concise
    """
    try:
        report = read_report(read_text(path, mebibytes=MOST_MEBIBYTES))
    except UnreadableError as error:
        raise click.ClickException(f"{shown(path)} cannot be read: {error}") from error
    except ReportFormatError as error:
        raise click.ClickException(f"{shown(path)} is no report: {escaped(str(error))}") from error
    click.echo(rendered(report, form, color=use_color(color)), nl=False, color=True)
    context.exit(report.exit_code)
