"""The streams that commands write to: never missing, deaf to a reader that left, escaping what they lack.

Every command prints by its own calls, so what holds for all of them is a property of the stream.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

import click

from verifier.render.lines import LEAST_WIDTH, WIDTH, Page

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_MOST_DIGITS = 6


class LostOutputError(click.ClickException):
    """What was printed could not be stored: a full disk, a descriptor that cannot be written."""


def prepare_streams() -> None:
    """Make standard output and standard error safe to print to; streams that tests put in place are left."""
    _open_closed_descriptors()
    sys.stdout = _prepared(sys.stdout, sys.__stdout__, 1, is_result=True)
    sys.stderr = _prepared(sys.stderr, sys.__stderr__, 2, is_result=False)


def page() -> Page:
    """What is printed on: as wide as COLUMNS says or the terminal is, within bounds; else of full width."""
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() and len(told) <= _MOST_DIGITS else 0
    if not width and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    bounded = min(max(width, LEAST_WIDTH), WIDTH) if width else WIDTH
    return Page(bounded, sys.stdout.encoding or "utf-8")


def _open_closed_descriptors() -> None:
    """Descriptors 0 to 2 that the caller closed: a file that is opened next must not become one of them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the least free number: this one


def _prepared(current: TextIO | None, own: TextIO | None, descriptor: int, *, is_result: bool) -> TextIO:
    if current is not None and (current is not own or not isinstance(current, io.TextIOWrapper)):
        return current
    return io.TextIOWrapper(
        io.BufferedWriter(_Outlet(descriptor, is_result=is_result)),
        encoding="utf-8" if current is None else current.encoding,
        errors="backslashreplace",
        line_buffering=current is not None and current.line_buffering,
    )


class _Outlet(io.FileIO):
    """A descriptor that becomes the null device once writing to it fails.

    A reader that goes away has seen what it wanted: that changes neither the verdict nor the exit code. Any
    other failure loses results that somebody waits for, and is said; of messages there is nobody to tell.
    """

    def __init__(self, descriptor: int, *, is_result: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._is_result = is_result

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or drop.

        Raises:
            LostOutputError: results cannot be written, for another reason than that nobody reads them.
        """
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if self._is_result and not isinstance(error, BrokenPipeError):
                raise LostOutputError(f"the results could not be written: {error.strerror}") from error
            return len(memoryview(data).cast("B"))
