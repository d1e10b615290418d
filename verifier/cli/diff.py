"""``shardproof diff``: do two documents cut their parameters by the same function?"""

from __future__ import annotations

from pathlib import Path

import click

from verifier.audit.differences import diff_documents
from verifier.cli.maps import maps_of
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath
from verifier.cli.requests import input_format_option


@click.command("diff")
@click.argument("here", type=NamedPath(), metavar="A")
@click.argument("there", type=NamedPath(), metavar="B")
@input_format_option
@report_options
@click.pass_context
def command(
    context: click.Context, /, here: Path, there: Path, input_format: str | None, output: Output
) -> None:
    """Compare the maps of A and B as functions, however their pieces are cut.

    Equality is proved; a difference is shown by its first element. Whether A or B are sound is not asked.
    Maps are matched by parameter name; two documents with one map each are compared whatever their names.

    \b
    shardproof diff before.json after.json
    """
    left, right = (maps_of(path, input_format=input_format) for path in (here, there))
    report = diff_documents(left, right)
    output.deliver(report)
    context.exit(report.exit_code)
