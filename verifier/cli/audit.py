"""``shardproof audit``: prove or refute every map in files and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from verifier.audit.documents import audit_paths, write_certificates
from verifier.cli.failures import oracle_failures
from verifier.cli.options import jobs_option, make_settings, settings_options
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath, shown
from verifier.cli.progress import path_progress


@click.command("audit")
@click.argument("paths", nargs=-1, required=True, type=NamedPath(), metavar="PATH...")
@settings_options
@jobs_option
@click.option(
    "--certificates",
    type=NamedPath(file_okay=False),
    metavar="DIR",
    help="Write a certificate for every proved map; shardproof certify checks them.",
)
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    paths: tuple[Path, ...],
    jobs: int,
    certificates: Path | None,
    output: Output,
    **settings: Any,
) -> None:
    """Prove or refute every shard map in PATHs, without reading tensor data or running code of the files.

    PATH is a JSON map, a JSON document with many, a case file, a DeepSpeed mp_rank_NN_model_states.pt, or the
    directory of such a checkpoint. One without any map leaves exit code 4 where nothing worse happened.

    \b
    shardproof audit checkpoint/global_step1000
    shardproof audit map.json --oracle --format concise
    """
    with oracle_failures(), path_progress(len(paths)) as done:
        report = audit_paths(paths, make_settings(**settings), jobs=jobs, done=done)
    if certificates is not None:
        try:
            number = write_certificates(report, certificates)
        except OSError as error:
            raise click.FileError(shown(certificates), hint=error.strerror or str(error)) from error
        click.echo(f"wrote {number} certificates to {shown(certificates)}", err=True)
    output.deliver(report)
    context.exit(report.exit_code)
