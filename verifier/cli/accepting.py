"""Options that say which findings a project lives with, and what makes a command fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from verifier.audit.baseline import (
    BaselineError,
    accepted,
    read_baseline,
    stale_in,
    with_stale,
    write_baseline,
)
from verifier.audit.suppressions import ConfigurationError, project_file, read_suppressions, suppressed
from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.report import (
    EXIT_NOTHING_CHECKED,
    EXIT_PROVED,
    EXIT_REFUTED,
    EXIT_UNDECIDED,
    Report,
)
from verifier.diagnostics.wording import counted, escaped

F = TypeVar("F", bound=Callable[..., Any])

FAIL_ON = ("warning", "undecided", "refuted", "never")
"""From the strictest on. Whatever is chosen, what could not be read and bugs of shardproof still fail."""


@dataclass(frozen=True, slots=True)
class Accepting:
    """What was asked for."""

    baseline: Path | None
    shrink: bool
    fail_on: str

    def applied(self, report: Report) -> Report:
        """The report with accepted findings marked; the baseline loses what is gone.

        Raises:
            click.ClickException: the configuration or the baseline is malformed, or cannot be written.
        """
        try:
            project = project_file(Path())
            if project is not None:
                report = suppressed(report, read_suppressions(project), _today())
            return report if self.baseline is None else self._with_baseline(report, self.baseline)
        except (ConfigurationError, BaselineError) as error:
            raise click.ClickException(escaped(str(error))) from error

    def _with_baseline(self, report: Report, path: Path) -> Report:
        known = read_baseline(path)
        stale = stale_in(report, known)
        report = accepted(report, known)
        if not stale or not self.shrink:
            return with_stale(report, shown(path), stale)
        write_baseline(path, set(known) - set(stale))
        click.echo(f"{counted(len(stale), 'finding')} gone: taken out of {shown(path)}", err=True)
        return report

    def exit_code(self, report: Report) -> int:
        """The exit code under ``--fail-on``."""
        code = report.exit_code
        match self.fail_on:
            case "warning" if code in (EXIT_PROVED, EXIT_NOTHING_CHECKED, EXIT_UNDECIDED):
                warned = any(finding.severity == "warning" for _, finding in report.open_findings)
                return EXIT_REFUTED if warned else code
            case "refuted" if code == EXIT_UNDECIDED:
                return EXIT_PROVED
            case "never" if code in (EXIT_REFUTED, EXIT_UNDECIDED):
                return EXIT_PROVED
        return code


def accepting_options(function: F) -> F:
    """``--baseline``, ``--no-shrink``, ``--fail-on``."""
    options = (
        click.option(
            "--baseline", type=NamedPath(exists=True, dir_okay=False), metavar="FILE",
            help="Accept the findings in FILE; it loses those that are gone. baseline write makes one.",
        ),
        click.option(
            "--no-shrink", is_flag=True,
            help="Leave the file of --baseline as it is, and report what is gone from it.",
        ),
        click.option(
            "--fail-on", type=click.Choice(FAIL_ON), default="undecided", show_default=True,
            help="The least that gives an exit code other than 0. Unreadable input always does.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def make_accepting(options: dict[str, Any]) -> Accepting:
    """What the options stand for; takes them out of ``options``."""
    return Accepting(options.pop("baseline"), not options.pop("no_shrink"), options.pop("fail_on"))


def _today() -> date:
    """The day by which suppressions end; SOURCE_DATE_EPOCH makes a run repeatable."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return moment.date()
