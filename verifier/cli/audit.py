"""``shardproof audit``: prove or refute every map in files and checkpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from verifier.audit.cache import CacheError
from verifier.audit.certificate_files import write_certificates
from verifier.audit.documents import Audit, audit_paths
from verifier.audit.executors import NoClusterError, workers
from verifier.cli.accepting import accepting_options, make_accepting
from verifier.cli.failures import oracle_failures
from verifier.cli.maps import maps_of
from verifier.cli.options import jobs_option, make_settings, scheduler_option, settings_options
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath, shown
from verifier.cli.progress import part_progress
from verifier.cli.requests import make_request, request_options
from verifier.diagnostics.report import Report
from verifier.diagnostics.wording import escaped


@click.command("audit")
@click.argument("paths", nargs=-1, required=True, type=NamedPath(readable=False), metavar="PATH...")
@request_options
@click.option(
    "--reference",
    type=NamedPath(exists=True),
    metavar="PATH",
    help="Also demand that each map is the same function as the map of its name in this document; single "
    "maps are compared whatever their names.",
)
@settings_options
@jobs_option
@scheduler_option
@click.option(
    "--cache",
    type=NamedPath(dir_okay=False),
    metavar="FILE",
    help="Keep proofs in FILE and go on where a stopped audit was; every proof in it is checked again.",
)
@click.option(
    "--certificates",
    type=NamedPath(file_okay=False),
    metavar="DIR",
    help="Write a certificate for every proved map; shardproof certify checks them.",
)
@accepting_options
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    paths: tuple[Path, ...],
    reference: Path | None,
    jobs: int,
    scheduler: str | None,
    cache: Path | None,
    certificates: Path | None,
    output: Output,
    **options: Any,
) -> None:
    """Prove or refute every shard map in PATHs, without reading tensor data or running code of the files.

    PATH is a file or a folder; formats are told by content (--input-format overrides). A folder stands for
    every checkpoint in it and for every loose file that would be audited by itself; other JSON, pickles and
    archives in it are listed under 'not checked'.

    A PATH in which no map is found is unreadable (exit code 2), like a file that is no map. A document that
    is read and lists no map leaves exit code 4 where nothing worse happened.

    \b
    shardproof audit checkpoint/global_step1000
    shardproof audit dcp_checkpoint/ --payload -j 2 --html-output=report.html
    shardproof audit map.json --oracle --format concise
    """
    request, accepting = make_request(options), make_accepting(options)
    references = None if reference is None else {found.name: found for found in maps_of(reference)}
    audit = Audit(
        settings=make_settings(**options),
        request=request,
        references=references,
        cache=cache,
        keep_outcomes=certificates is not None,
    )
    report = _audited(paths, audit, jobs, scheduler)
    if certificates is not None:
        _write(report, certificates)
    report = accepting.applied(report)
    output.deliver(report)
    context.exit(accepting.exit_code(report))


def _audited(paths: tuple[Path, ...], audit: Audit, jobs: int, scheduler: str | None) -> Report:
    try:
        with (
            oracle_failures(),
            part_progress() as done,
            workers(jobs, scheduler, start="spawn") as found,
        ):
            return audit_paths(paths, replace(audit, workers=found, done=done))
    except CacheError as error:
        raise click.ClickException(f"--cache: {escaped(str(error))}; name another file") from error
    except NoClusterError as error:
        raise click.ClickException(f"--scheduler: {error}") from error


def _write(report: Report, certificates: Path) -> None:
    try:
        number = write_certificates(report, certificates)
    except OSError as error:
        raise click.FileError(shown(certificates), hint=error.strerror or str(error)) from error
    click.echo(f"wrote {number} certificates to {shown(certificates)}", err=True)
