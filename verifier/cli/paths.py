"""Paths on the command line: checked when they are parsed, bounded when they are read, escaped when shown."""

from __future__ import annotations

import os
from pathlib import Path

import click

from verifier.diagnostics.wording import escaped

MISSING = "no such file, or not a regular one"
"""In the words of the readers of documents: a missing file is the same for every command."""


class MissingPathError(click.ClickException):
    """A path that has to be there is not."""

    def __init__(self, path: Path, param: click.Parameter | None) -> None:
        option = f"{param.opts[0]}: " if isinstance(param, click.Option) else ""
        super().__init__(f"{option}SM001 {shown(path)}: {MISSING}\n  = help: check the spelling of the path")


class NamedPath(click.Path):
    """A path that is not the empty text, which ``Path`` would take for the current directory.

    ``readable``: whether a path that is there and cannot be read is wrong usage, which ends the command.
    """

    def __init__(
        self,
        *,
        exists: bool = False,
        file_okay: bool = True,
        dir_okay: bool = True,
        readable: bool = True,
    ) -> None:
        super().__init__(file_okay=file_okay, dir_okay=dir_okay, readable=readable, path_type=Path)
        self._must_exist = exists

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path.

        Raises:
            click.BadParameter: it is empty, or not what the parameter accepts.
            MissingPathError: it has to exist, and does not.
        """
        if not str(value):
            self.fail("an empty path names nothing; leave it out or write '.' for this directory", param, ctx)
        if self._must_exist and not os.path.exists(str(value)):  # Path.exists raises for names too long
            raise MissingPathError(Path(str(value)), param)
        return Path(str(super().convert(str(value), param, ctx)))


class UnreadableError(Exception):
    """A text file that cannot be read. The message is the reason alone, without the path."""


def read_text(path: Path, *, mebibytes: int) -> str:
    """The text of a file of at most so many MiB; a larger one is not read.

    Raises:
        UnreadableError: there is no such file, it is too large, or it is not UTF-8.
    """
    limit = mebibytes * 2**20
    too_large = UnreadableError(f"is larger than {mebibytes} MiB and was not read")
    try:
        if path.stat().st_size > limit:
            raise too_large
        with path.open("rb") as file:  # a device or pipe has no size, so the reading is bounded as well
            content = file.read(limit + 1)
    except FileNotFoundError as error:
        raise UnreadableError(MISSING) from error
    except OSError as error:
        raise UnreadableError(escaped(error.strerror or str(error))) from error
    if len(content) > limit:
        raise too_large
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not UTF-8 text: {error.reason} at byte {error.start}") from error


def shown(path: Path) -> str:
    """A path, escaped: file names are hostile input too."""
    return escaped(str(path))
