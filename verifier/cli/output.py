"""How results are printed: formats, colour, and several output files at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.report import Report
from verifier.render.lines import ColorMode, wants_color

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("text", "concise", "json")


def rendered(report: Report, form: str, *, color: bool = False) -> str:
    """A report in one of the formats. Each renderer is imported only when asked for."""
    match form:
        case "text":
            from verifier.render.text import render_text

            return render_text(report, color=color)
        case "concise":
            from verifier.render.concise import render_concise

            return render_concise(report, color=color)
        case "json":
            from verifier.render.json_hub import render_json

            return render_json(report)
        case _:
            raise ValueError(f"no format {form!r}")


def report_options(function: F) -> F:
    """``--format``, ``--json-output`` and ``--color``."""
    options = (
        click.option(
            "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
            help="What to print on standard output.",
        ),
        click.option(
            "--json-output", type=NamedPath(dir_okay=False), default=None, metavar="FILE",
            help="Also write the report as JSON; shardproof render reads it back.",
        ),
        color_option,
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour; FORCE_COLOR and NO_COLOR are honoured.",
)


def use_color(mode: ColorMode) -> bool:
    """Whether standard output gets colour."""
    return wants_color(mode, os.environ, is_terminal=sys.stdout.isatty())


def deliver(report: Report, form: str, json_output: Path | None, color: ColorMode) -> None:
    """Print the report and write what else was asked for.

    Raises:
        click.FileError: a file cannot be written.
    """
    if json_output is not None:
        write_text(json_output, rendered(report, "json"))
    click.echo(rendered(report, form, color=use_color(color)), nl=False, color=True)


def write_text(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        click.FileError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(shown(path), hint=error.strerror or str(error)) from error
