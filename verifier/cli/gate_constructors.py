"""``shardproof gate MODULE:FUNCTION``: layout constructors, proved for all sizes of a domain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from verifier.audit.check import Settings
from verifier.cli.output import Output, write_text
from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.report import Report
from verifier.diagnostics.wording import counted
from verifier.gate.certificate_files import write_certificates
from verifier.gate.domain_text import domain_of_text
from verifier.gate.gating import GateError
from verifier.gate.predicate import TextError, predicate
from verifier.gate.run import FAILURES, Arguments, Asked, Run, configured_places, gate_places
from verifier.gate.written_test import test_name
from verifier.render.lines import hanging, line, paint
from verifier.symbolic.domain import DomainError, Sizes

F = TypeVar("F", bound=Callable[..., object])


def constructor_options(function: F) -> F:
    """``--over``, ``--where``, ``--arguments``, ``--write-tests``, ``--certificates``, ``--verbose``."""
    options = (
        click.option(
            "--over", metavar="DOMAIN", help="The sizes to be right for, instead of the declared ones."
        ),
        click.option("--where", metavar="CONDITION", help="The precondition on them; goes with --over."),
        click.option(
            "--arguments", type=click.Choice(["domain", "hostile"]), default="domain", show_default=True,
            help="hostile also tries bad arguments: which are refused, which give a wrong map silently.",
        ),
        click.option(
            "--write-tests", type=NamedPath(file_okay=False), metavar="DIR",
            help="Write a failing pytest file for every refuted constructor.",
        ),
        click.option(
            "--certificates", type=NamedPath(file_okay=False), metavar="DIR",
            help="Write a certificate for every proof for all sizes; shardproof certify checks them.",
        ),
        click.option(
            "-v", "--verbose", is_flag=True, help="List refusals with their conditions, and bad arguments."
        ),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def gate_constructors(
    places: tuple[str, ...],
    settings: Settings,
    output: Output,
    *,
    over: str | None,
    where: str | None,
    reference: str | None,
    arguments: Arguments,
    write_tests: Path | None,
    certificates: Path | None,
    verbose: bool,
) -> Report:
    """Gate the constructors, those of the nearest pyproject.toml where none is named, and print the report.

    Raises:
        click.ClickException: there is nothing to gate, or no domain in the options.
    """
    asked = Asked(over=_domain(over, where), reference=reference, arguments=arguments)
    try:
        run = gate_places(places or _configured(), asked, settings)
    except GateError as error:
        raise click.ClickException(str(error)) from error
    if output.form == "text" and verbose:
        for detail in run.details:
            indent = " " * (len(detail) - len(detail.lstrip()))
            click.echo(paint(hanging(line(indent), detail.lstrip()), color=False), nl=False)
    output.deliver(run.report)
    if output.form == "text":
        for place, test in run.tests.items():
            click.echo(f"\n# {test_name(place)}\n{test}", nl=False)
    if write_tests is not None:
        _write(run, write_tests)
    if certificates is not None:
        _write_certificates(run, certificates)
    return run.report


def _domain(over: str | None, where: str | None) -> Sizes | None:
    """The domain of the command line.

    Raises:
        click.ClickException: it is none.
    """
    if over is None:
        if where is not None:
            raise click.UsageError("--where is a precondition on the sizes of --over; give both")
        return None
    try:
        return domain_of_text(over, None if where is None else predicate(where))
    except (TextError, DomainError) as error:
        raise click.ClickException(
            f"--{error}" if isinstance(error, TextError) else f"--over: {error}"
        ) from error


def _configured() -> list[str]:
    """The constructors of the nearest pyproject.toml.

    Raises:
        click.ClickException: there are none.
    """
    try:
        found = configured_places(Path.cwd())
    except FAILURES as error:
        raise click.ClickException(str(error)) from error
    if not found:
        raise click.UsageError(
            "name a constructor, or give its domain in [tool.shardproof.gate] of pyproject.toml"
        )
    return found


def _write(run: Run, folder: Path) -> None:
    """Write the tests.

    Raises:
        click.FileError: a file cannot be written.
    """
    if not run.tests:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.FileError(shown(folder), hint=error.strerror or str(error)) from error
    for place, test in run.tests.items():
        write_text(folder / test_name(place), test)
    click.echo(f"wrote {counted(len(run.tests), 'test')} to {shown(folder)}", err=True)


def _write_certificates(run: Run, folder: Path) -> None:
    """Write the certificates.

    Raises:
        click.FileError: a file cannot be written.
    """
    try:
        number = write_certificates(run.certificates, folder)
    except OSError as error:
        raise click.FileError(shown(folder), hint=error.strerror or str(error)) from error
    click.echo(f"wrote {counted(number, 'certificate')} to {shown(folder)}", err=True)
