"""``shardproof replay``: run a corpus of cases and say which differ from the answer they state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from verifier.audit.check import tool_versions
from verifier.audit.corpus import cases_in, replay
from verifier.audit.executors import workers
from verifier.audit.manifest import ManifestError
from verifier.audit.replayed import Replayed
from verifier.cli.failures import oracle_failures
from verifier.cli.options import jobs_option, make_settings, settings_options
from verifier.cli.output import color_option, rendered, use_color
from verifier.cli.paths import NamedPath
from verifier.cli.progress import part_progress
from verifier.diagnostics.report import (
    EXIT_NOTHING_CHECKED,
    EXIT_PROVED,
    EXIT_REFUTED,
    EXIT_TOOL_BUG,
    Report,
)
from verifier.diagnostics.wording import escaped
from verifier.render.lines import ColorMode


@click.command("replay")
@click.argument("directory", type=NamedPath(exists=True), metavar="DIR")
@settings_options
@jobs_option
@click.option("-v", "--verbose", is_flag=True, help="One line per case, also for those that agree.")
@color_option
@click.pass_context
def command(
    context: click.Context,
    /,
    directory: Path,
    jobs: int,
    verbose: bool,
    color: ColorMode,
    **settings: Any,
) -> None:
    """Replay every case under DIR and compare with the answer it states.

    Cases are case files, and the entries of files called manifest.json: checkpoints with a verdict and its
    reasons in words. A case differs also when its file cannot be read. Exit code 0 when every case agrees, 1
    when one differs, 4 when there is none, 70 when shardproof contradicts itself on one.

    \b
    shardproof replay corpora/ -j 2
    shardproof replay checkpoints/manifest.json
    """
    try:
        cases = cases_in(directory)
    except ManifestError as error:
        raise click.ClickException(escaped(str(error))) from error
    chosen = replace(make_settings(**settings), repair=False)
    shown: list[Replayed] = []
    with oracle_failures(), part_progress() as done, workers(jobs, start="spawn") as found:
        done(0, len(cases))
        for case in replay(cases, chosen, found):
            done(1, 0)
            if not case.agrees or case.tool_bug:
                shown.append(case)
            if verbose or not case.agrees or case.tool_bug:
                click.echo(_line(case))
    for case in shown:
        report = Report(tool=tool_versions(), subjects=case.subjects)
        click.echo()
        click.echo(rendered(report, "text", color=use_color(color)), nl=False, color=True)
    differing, bugs = sum(not case.agrees for case in shown), sum(case.tool_bug for case in shown)
    click.echo(_summary(len(cases), differing, bugs))
    if bugs:
        context.exit(EXIT_TOOL_BUG)
    if not cases:
        context.exit(EXIT_NOTHING_CHECKED)
    context.exit(EXIT_REFUTED if differing else EXIT_PROVED)


def _line(case: Replayed) -> str:
    file = escaped(case.file)
    if case.tool_bug:
        return f"BUG      {file}: expected {case.expected}, got {case.got}"
    if case.agrees:
        return f"agrees   {file}: {case.got}"
    return f"DIFFERS  {file}: expected {case.expected}, got {case.got}"


def _summary(total: int, differing: int, bugs: int) -> str:
    if total == 0:
        return "nothing was checked: no case files"
    tail = f"; shardproof contradicts itself on {bugs}" if bugs else ""
    if differing:
        return f"{differing} of {total} cases differ{tail}"
    return f"all {total} cases agree{tail}"
