"""The contract that a command is given as a file."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.audit.contracts import read_contract
from verifier.cli.paths import shown
from verifier.contracts.document import Contract
from verifier.diagnostics.wording import escaped
from verifier.formats import FormatError


def unreadable(error: FormatError) -> click.ClickException:
    """A file that could not be read, as the message of a command."""
    return click.ClickException(f"{escaped(str(error))}\n  = help: {escaped(error.help)}")


def given_contract(path: Path) -> Contract:
    """The contract in a file; one that breaks a rule says nothing that others could build on.

    Raises:
        click.ClickException: there is none, or it breaks a rule.
    """
    try:
        checked = read_contract(path)
    except FormatError as error:
        raise unreadable(error) from error
    if checked.contract is None:
        raise click.ClickException(f"{shown(path)} holds no contract")
    broken = [found for found in checked.errors if not found.pointer.startswith("/map")]
    if broken:
        first = escaped(f"{broken[0].pointer}: {broken[0].message} ({broken[0].rule})")
        raise click.ClickException(
            f"{shown(path)} breaks a rule, at {first}; see: shardproof contract check {shown(path)}"
        )
    return checked.contract
