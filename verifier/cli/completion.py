"""``shardproof completion``: the script that lets a shell complete commands, options and paths."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
NAME = "shardproof"


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, /, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    eval "$(shardproof completion bash)"                                  # in ~/.bashrc
    shardproof completion zsh > ~/.zfunc/_shardproof                      # a folder of fpath
    shardproof completion fish > ~/.config/fish/completions/shardproof.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.ClickException(f"this version of click has no completion for {shell}")
    complete = found(context.find_root().command, {}, NAME, "_SHARDPROOF_COMPLETE")
    click.echo(complete.source())
