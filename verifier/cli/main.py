"""The command line: one group, one module per command.

Exit codes: 0 all proved, 1 something refuted, 2 could not run, read or write, 3 something undecided, 4
nothing was checked, in all or on one path, 70 a bug of shardproof itself. The worst wins:
70 > 2 > 1 > 3 > 4 > 0.
"""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.failures import show_failure
from verifier.cli.streams import page, prepare_streams
from verifier.diagnostics.report import EXIT_TOOL_BUG, EXIT_UNREADABLE
from verifier.render.lines import written_on
from verifier.version import VERSION

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "shardproof.commands"
"""Group in which a package names commands of its own: objects of click."""

_COMMANDS = {
    "audit": "verifier.cli.audit",
    "gate": "verifier.cli.gate",
    "replay": "verifier.cli.replay",
    "certify": "verifier.cli.certify",
    "contract": "verifier.cli.contract",
    "diff": "verifier.cli.diff",
    "show": "verifier.cli.show",
    "explain": "verifier.cli.explain",
    "render": "verifier.cli.render",
    "baseline": "verifier.cli.baseline",
    "completion": "verifier.cli.completion",
}


class _LazyGroup(click.Group):
    """Imports a command's module only when it is used, so that each starts as fast as it can."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # click would end with 1, which stands for a refutation
            raise RuntimeError("a pipe to a process of shardproof's own broke") from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from importlib import import_module

        if cmd_name in _COMMANDS:
            command = import_module(_COMMANDS[cmd_name]).command
        elif cmd_name in (added := _added()):
            command = _loaded(added[cmd_name])
        else:
            return None
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} is no command")
        return command


def _loaded(found: EntryPoint) -> object:
    """The command of another package; one that says why where it cannot be imported, so that help works."""
    try:
        return found.load()
    except ImportError as error:
        reason = f"the command {found.name} of {found.module} cannot be loaded: {error}"

        def fail() -> None:
            raise click.ClickException(reason)

        return click.Command(found.name, callback=fail, short_help="(cannot be loaded)")


def _added() -> dict[str, EntryPoint]:
    """Commands that other packages bring, the fuzzer among them: the verifier does not know it."""
    from importlib.metadata import entry_points

    return {found.name: found for found in sorted(entry_points(group=ENTRY_POINTS))}


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 proved, 1 refuted, 2 could not run, 3 undecided, 4 nothing checked, 70 tool bug.",
)
@click.version_option(VERSION, prog_name="shardproof")
def shardproof() -> None:
    """Prove or refute shard maps: how tensors are cut over ranks and put together again.

    \b
    shardproof audit checkpoint/          is every map in it sound?
    shardproof explain SM201              what does this code mean?
    """


def main() -> None:
    """Entry point. A crash is a bug of ours: it exits 70 (TB103), never 0 or 1; lost results exit 2."""
    prepare_streams()
    with written_on(page()):
        sys.exit(_ended())


def _ended() -> int:
    """The exit code of the command, once it ran; what stopped it is said."""
    try:
        code: int = shardproof.main(standalone_mode=False)  # what a command passed to context.exit()
    except click.Abort:
        click.echo("interrupted", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:  # its message is the help, usage and all
        click.echo(error.format_message(), err=True)
        return EXIT_UNREADABLE
    except click.ClickException as error:
        show_failure(error)
        return EXIT_UNREADABLE
    except Exception as error:
        click.echo(_crash_text(error), err=True)
        return EXIT_TOOL_BUG
    return code


def _crash_text(error: Exception) -> str:
    trace = "".join(traceback.format_exception(error))
    return (
        f"{trace}\nbug[TB103] crash: shardproof failed on this input; this says nothing about the input\n"
        f"  = help: please report the lines above together with: shardproof {' '.join(sys.argv[1:])}"
    )
