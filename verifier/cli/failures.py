"""How a command ends that could not run: one message on standard error, exit code 2."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from verifier.oracle.errors import INSTALL, OracleError, OracleUnavailableError
from verifier.render.lines import page_width, wrapped


def show_failure(error: click.ClickException) -> None:
    """Print a message, escaped, in lines of bounded length."""
    text = f"Error: {error.format_message()}"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n\n{text}"
    lines = [short for line in text.split("\n") for short in _wrapped(line)]
    click.echo("\n".join(lines), err=True)


def _wrapped(line: str) -> list[str]:
    indent = len(line) - len(line.lstrip(" "))
    return [" " * indent + short for short in wrapped(line.lstrip(" "), page_width() - indent)]


@contextlib.contextmanager
def oracle_failures() -> Iterator[None]:
    """Turns what ``--oracle`` could not do into a message that says what to do.

    Raises:
        click.ClickException: torch is missing, the device does not exist, or the replay was refused.
    """
    try:
        yield
    except OracleError as error:
        reason = " ".join(str(error).split())
        raise click.ClickException(
            f"--oracle: {reason}; choose another --device, or leave --oracle out"
        ) from error


@contextlib.contextmanager
def needs_torch(option: str) -> Iterator[None]:
    """Turns missing torch into a message that names the option and the extra.

    Raises:
        click.ClickException: torch is not installed.
    """
    try:
        yield
    except OracleUnavailableError as error:
        raise click.ClickException(f"{option} needs torch, which cannot be imported: {INSTALL}") from error
