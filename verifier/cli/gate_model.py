"""``shardproof gate --model``: a distributed model, before anything is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from verifier.audit.check import Settings
from verifier.cli.failures import needs_torch
from verifier.cli.gate_lift import numbers
from verifier.cli.output import Output
from verifier.diagnostics.report import Report
from verifier.gate.building import gate_model_at

F = TypeVar("F", bound=Callable[..., object])


def model_options(function: F) -> F:
    """``--model``, ``--world``, ``--ranks``."""
    options = (
        click.option(
            "--model", metavar="MODULE:FUNCTION",
            help="Gate every DTensor of the model that the function builds, on meta tensors.",
        ),
        click.option(
            "--world", type=click.IntRange(min=1), metavar="N", help="With --model: ranks of the job."
        ),
        click.option(
            "--ranks", metavar="N", help="With --lift: how many. With --model: which ones [all]."
        ),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def gate_build(
    where: str, settings: Settings, output: Output, *, world: int | None, ranks: str | None
) -> Report:
    """Build a model, gate it and print the report.

    Raises:
        click.ClickException: the options do not describe a job, or torch is missing.
    """
    if world is None:
        raise click.UsageError("--model needs --world, how many ranks the job has, e.g. --world 6")
    played = None if ranks is None else numbers("--ranks", ranks)
    with needs_torch("--model"):
        report = gate_model_at(where, world, settings, ranks=played)
    output.deliver(report)
    return report
