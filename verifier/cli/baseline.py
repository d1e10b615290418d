"""``shardproof baseline``: begin with the findings there are, and never get more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from verifier.audit.baseline import BaselineError, known_in, read_baseline, stale_in, write_baseline
from verifier.audit.documents import Audit, audit_paths
from verifier.audit.executors import workers
from verifier.cli.options import jobs_option
from verifier.cli.paths import NamedPath, shown
from verifier.cli.progress import part_progress
from verifier.cli.requests import make_request, request_options
from verifier.diagnostics.report import Report
from verifier.diagnostics.wording import counted, escaped

DEFAULT = "shardproof-baseline.json"

_file_option = click.option(
    "-o", "--output", "file", type=NamedPath(dir_okay=False), default=DEFAULT, show_default=True,
    metavar="FILE", help="The baseline.",
)  # fmt: skip


@click.group("baseline")
def command() -> None:
    """Accept the findings there are today, and nothing new: audit --baseline FILE.

    \b
    shardproof baseline write checkpoints/ -o shardproof-baseline.json
    shardproof audit checkpoints/ --baseline shardproof-baseline.json
    """


@command.command("write")
@click.argument("paths", nargs=-1, required=True, type=NamedPath(readable=False), metavar="PATH...")
@request_options
@jobs_option
@_file_option
def write(paths: tuple[Path, ...], jobs: int, file: Path, **options: Any) -> None:
    """Audit PATHs and write every error found to a baseline. What cannot be read is not accepted.

    \b
    shardproof baseline write checkpoints/
    """
    report = _audited(paths, jobs, options)
    known = known_in(report)
    _written(file, known)
    unreadable = report.summary.unreadable
    left = f"; {counted(unreadable, 'part')} could not be read and stays a failure" if unreadable else ""
    click.echo(f"wrote {counted(len(known), 'finding')} to {shown(file)}{left}")


@command.command("prune")
@click.argument("paths", nargs=-1, required=True, type=NamedPath(readable=False), metavar="PATH...")
@request_options
@jobs_option
@_file_option
def prune(paths: tuple[Path, ...], jobs: int, file: Path, **options: Any) -> None:
    """Audit PATHs and take out of a baseline what is gone from them. Nothing is ever added.

    \b
    shardproof baseline prune checkpoints/
    """
    try:
        known = read_baseline(file)
    except BaselineError as error:
        raise click.ClickException(escaped(str(error))) from error
    stale = stale_in(_audited(paths, jobs, options), known)
    _written(file, set(known) - set(stale))
    click.echo(f"took {len(stale)} of {counted(len(known), 'finding')} out of {shown(file)}")


def _audited(paths: tuple[Path, ...], jobs: int, options: dict[str, Any]) -> Report:
    request = make_request(options)
    with part_progress() as done, workers(jobs, start="spawn") as found:
        return audit_paths(paths, Audit(request=request, workers=found, done=done))


def _written(file: Path, known: Any) -> None:
    try:
        write_baseline(file, known)
    except BaselineError as error:
        raise click.ClickException(escaped(str(error))) from error
