"""How results are printed: formats, colour, and several output files at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.report import EXIT_PROVED, Report
from verifier.render.lines import ColorMode, wants_color

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "html")

_FILES = {
    "json": "Also write the report as JSON; shardproof render reads it back.",
    "sarif": "Also write it as SARIF 2.1.0, for code scanning.",
    "junit": "Also write it as JUnit XML.",
    "github": "Also write it as annotations of GitHub Actions.",
    "html": "Also write it as one HTML file, with linked pictures of shard and parameter.",
}
"""The formats that can be written beside what is printed, and what is said of them."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command does with its report: print it in one format, write it to files in others."""

    form: str
    files: Mapping[str, Path]
    color: ColorMode
    quiet: bool = False

    def deliver(self, report: Report) -> None:
        """Write the files, then print; quietly, only when somebody has to act.

        Raises:
            click.FileError: a file cannot be written.
        """
        for form, path in self.files.items():
            write_text(path, rendered(report, form))
        if self.quiet and report.exit_code == EXIT_PROVED and not report.open_findings:
            return
        click.echo(rendered(report, self.form, color=use_color(self.color)), nl=False, color=True)


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
        case "sarif":
            from verifier.render.checkout import surroundings
            from verifier.render.sarif import render_sarif

            return render_sarif(report, surroundings(os.environ))
        case "junit":
            from verifier.render.junit import render_junit

            return render_junit(report)
        case "github":
            from verifier.render.checkout import surroundings
            from verifier.render.github import render_github

            return render_github(report, surroundings(os.environ))
        case "html":
            from verifier.render.html import render_html

            return render_html(report)
        case _:
            raise ValueError(f"no format {form!r}")


def report_options(function: F) -> F:
    """``--format``, ``--json-output`` and its kin, ``--color``; the command gets them as one ``output``."""

    @wraps(function)
    def command(*arguments: Any, form: str, color: ColorMode, quiet: bool, **others: Any) -> Any:
        named = {name: others.pop(f"{name}_output") for name in _FILES}
        files = {name: path for name, path in named.items() if path is not None}
        return function(*arguments, output=Output(form, files, color, quiet), **others)

    decorated: Any = command
    for option in reversed([_format_option, *map(_file_option, _FILES), color_option, _quiet_option]):
        decorated = option(decorated)
    decorated_as_before: F = decorated
    return decorated_as_before


_format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="What to print on standard output.",
)

_quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing where all is proved and nobody has to act."
)

color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour; FORCE_COLOR and NO_COLOR are honoured.",
)


def _file_option(form: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{form}-output",
        type=NamedPath(dir_okay=False),
        default=None,
        metavar="FILE",
        help=_FILES[form],
    )


def use_color(mode: ColorMode) -> bool:
    """Whether standard output gets colour."""
    return wants_color(mode, os.environ, is_terminal=sys.stdout.isatty())


def write_text(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        click.FileError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(shown(path), hint=error.strerror or str(error)) from error
