"""``shardproof contract``: what optimizers declare of their state, checked; one module for each command."""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = {
    "check": "verifier.cli.contract_check",
    "induce": "verifier.cli.contract_induce",
    "align": "verifier.cli.contract_align",
    "simulate": "verifier.cli.contract_simulate",
    "probe": "verifier.cli.contract_probe",
}


class _LazyCommands(click.Group):
    """Imports a command's module only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name]).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} is no command")
        return command


@click.group("contract", cls=_LazyCommands)
def command() -> None:
    """Check what optimizers declare of their state, and what becomes of it under a cut.

    \b
    shardproof contract check adam8bit.json
    shardproof contract induce adam8bit.json --map tp4.json --target tp8.json
    shardproof contract align --block 256 --rule rows --columns 1024
    """
