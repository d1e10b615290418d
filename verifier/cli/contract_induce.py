"""``shardproof contract induce``: optimizer state under a cut, and whether it can move to another."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.audit.check import Settings
from verifier.audit.contracts import read_document
from verifier.audit.inductions import (
    BrokenCutError,
    Cuts,
    cuts_of_document,
    cuts_of_maps,
    induced_report,
)
from verifier.audit.moves import moved_report
from verifier.cli.given_contract import given_contract
from verifier.cli.maps import maps_of
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.wording import escaped
from verifier.formats import FormatError


@click.command("induce")
@click.argument("contract", type=NamedPath(exists=True), metavar="CONTRACT")
@click.option(
    "--map",
    "here",
    type=NamedPath(exists=True),
    required=True,
    metavar="MAP",
    help="How the parameters are cut: a shard map, a checkpoint, or a cut by members.",
)
@click.option(
    "--target",
    "there",
    type=NamedPath(exists=True),
    metavar="MAP",
    help="How they are to be cut: can the state move without being computed anew?",
)
@report_options
@click.pass_context
def command(
    context: click.Context, /, contract: Path, here: Path, there: Path | None, output: Output
) -> None:
    """Derive the cut of every state field from that of its parameter, or say why there is none.

    \b
    shardproof contract induce adam8bit.json --map tp4.json
    shardproof contract induce adam8bit.json --map tp4.json --target tp8.json
    """
    declared = given_contract(contract)
    cuts = _cuts(here)
    if there is None:
        report = induced_report(declared, cuts, here, Settings())
    else:
        report = moved_report(declared, cuts, _cuts(there), here)
    output.deliver(report)
    context.exit(report.exit_code)


def _cuts(path: Path) -> Cuts:
    document: object = None
    if path.suffix == ".json":
        try:
            document = read_document(path)
        except FormatError as error:
            raise click.ClickException(escaped(str(error))) from error
    try:
        cuts = cuts_of_document(document)
    except BrokenCutError as error:
        raise click.ClickException(f"{shown(path)}{escaped(str(error))}") from error
    return cuts_of_maps(maps_of(path)) if cuts is None else cuts
