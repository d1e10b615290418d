"""How a command ends that could not run: one message on standard error, exit code 2."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

import click

from verifier.oracle.errors import INSTALL, OracleError, OracleUnavailableError
from verifier.render.lines import WIDTH, wrapped

_LOST_OUTPUT = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO})


def show_failure(error: click.ClickException) -> None:
    """Print a message in printable ASCII and lines of bounded length."""
    text = f"Error: {error.format_message()}"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n\n{text}"
    lines = [short for line in text.split("\n") for short in _wrapped(line)]
    with contextlib.suppress(OSError):  # where standard error is gone too, the exit code still tells
        click.echo("\n".join(lines), err=True)


def _wrapped(line: str) -> list[str]:
    indent = len(line) - len(line.lstrip(" "))
    return [" " * indent + short for short in wrapped(line.lstrip(" "), WIDTH - indent)]


@contextlib.contextmanager
def output_failures() -> Iterator[None]:
    """Turns an output that nobody reads, or that has no room left, into a message.

    What is still buffered is dropped: the interpreter would try to write it again at its exit.

    Raises:
        click.ClickException: the output is lost.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _LOST_OUTPUT:
            raise
        with contextlib.suppress(OSError, ValueError):
            target = sys.stdout.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, target)
            os.close(nowhere)
        raise click.ClickException(f"the results could not be written: {error.strerror}") from error


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
