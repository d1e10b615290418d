"""``shardproof contract induce``: optimizer state under a cut, and whether it can move to another."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
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
from verifier.cli.given_contract import given_contract, unreadable
from verifier.cli.maps import maps_of
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath, shown
from verifier.contracts.document import Contract
from verifier.contracts.induced.state_names import is_state_name
from verifier.diagnostics.wording import counted, escaped, shown_name
from verifier.formats import FormatError


@click.command("induce")
@click.argument("contract", type=NamedPath(), metavar="CONTRACT")
@click.option(
    "--map",
    "here",
    type=NamedPath(),
    required=True,
    metavar="MAP",
    help="How the parameters are cut: a shard map, a checkpoint, or a cut by members.",
)
@click.option(
    "--target",
    "there",
    type=NamedPath(),
    metavar="MAP",
    help="How they are to be cut: can the state move without being computed anew?",
)
@click.option("--name", "pattern", metavar="GLOB", help="Only parameters of such a name, e.g. 'layers.0.*'.")
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    contract: Path,
    here: Path,
    there: Path | None,
    pattern: str | None,
    output: Output,
) -> None:
    """Derive the cut of every state field from that of its parameter, or say why there is none.

    What a checkpoint has of optimizer state is left out: it is no parameter.

    \b
    shardproof contract induce adam8bit.json --map tp4.json
    shardproof contract induce adam8bit.json --map tp4.json --target tp8.json
    """
    declared = given_contract(contract)
    cuts, left = _chosen(here, declared, pattern)
    if there is None:
        report = induced_report(declared, cuts, here, Settings())
    else:
        target, _ = _chosen(there, declared, pattern)
        report = moved_report(declared, cuts, target, here)
    if left:
        clause = f"{counted(left, 'tensor')} of optimizer state in {shown(here)}, left out as no parameters"
        report = replace(report, unchecked=(*report.unchecked, clause))
    output.deliver(report)
    context.exit(report.exit_code)


def _chosen(path: Path, contract: Contract, pattern: str | None) -> tuple[Cuts, int]:
    """The cuts of the parameters that are asked for, and how many tensors of optimizer state were left out.

    Raises:
        click.ClickException: there is no such parameter.
    """
    found = _cuts(path)
    fields = [field.name for field in contract.fields]
    parameters = {name: cut for name, cut in found.items() if not is_state_name(name, fields)}
    if not parameters:
        raise click.ClickException(
            f"{shown(path)} holds optimizer state only; name the checkpoint of the parameters"
        )
    chosen = {
        name: cut
        for name, cut in parameters.items()
        if pattern in (None, name) or fnmatchcase(name, str(pattern))  # a name may have brackets in it
    }
    if not chosen:
        known = escaped(", ".join(shown_name(name) for name in list(parameters)[:8]))
        raise click.ClickException(
            f"{shown(path)} has no parameter like {escaped(shown_name(pattern or ''))}; it has {known}"
        )
    return chosen, len(found) - len(parameters)


def _cuts(path: Path) -> Cuts:
    document: object = None
    if path.suffix == ".json":
        try:
            document = read_document(path)
        except FormatError as error:
            raise unreadable(error) from error
    try:
        cuts = cuts_of_document(document)
    except BrokenCutError as error:
        raise click.ClickException(f"{shown(path)}{escaped(str(error))}") from error
    return cuts_of_maps(maps_of(path)) if cuts is None else cuts
