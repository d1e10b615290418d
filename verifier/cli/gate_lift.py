"""``shardproof gate --lift``: real code against the layout it should implement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from verifier.audit.check import Settings
from verifier.cli.failures import needs_torch
from verifier.cli.output import Output
from verifier.cli.progress import part_progress
from verifier.diagnostics.report import Report
from verifier.gate.lifting import Lifting, gate_lift

F = TypeVar("F", bound=Callable[..., object])


def lift_options(function: F) -> F:
    """``--lift``, ``--loader``, ``--shape``, ``--shards``."""
    options = (
        click.option(
            "--lift", metavar="MODULE:FUNCTION",
            help="Gate real code: the map that (tensor, rank, world) -> shard implements.",
        ),
        click.option(
            "--loader", is_flag=True,
            help="With --lift: the function is (rank, world) -> Loading, how to call a weight loader.",
        ),
        click.option("--shape", metavar="N,N...", help="With --lift: of the whole tensor, made on --device."),
        click.option(
            "--shards", metavar="ID,ID...",
            help="With --loader: the order in which the shard ids make up the parameter.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def gate_code(
    where: str,
    settings: Settings,
    output: Output,
    *,
    loader: bool,
    shape: str | None,
    shards: str | None,
    ranks: str | None,
    device: str,
    reference: str | None,
) -> Report:
    """Lift a function, gate its map and print the report.

    Raises:
        click.ClickException: the options do not describe a lift, or torch is missing.
    """
    if loader and shape is not None:
        raise click.UsageError("--shape does not go with --loader: its parts make up the shape")
    if not loader and shards is not None:
        raise click.UsageError("--shards goes with --loader: a partition function knows no shard ids")
    if not loader and shape is None:
        raise click.UsageError("--lift needs --shape, the shape of the whole tensor, e.g. --shape 12,8")
    if ranks is None:
        raise click.UsageError("--lift needs --ranks, how many there are, e.g. --ranks 4")
    count = numbers("--ranks", ranks)
    if len(count) != 1 or count[0] < 1:
        raise click.UsageError(f"--ranks {ranks}: with --lift it says how many ranks there are, from 1 on")
    lifting = Lifting(
        ranks=count[0],
        shape=None if shape is None else numbers("--shape", shape),
        shards=None if shards is None else tuple([one.strip() for one in shards.split(",")]),
        device=device,
        reference=reference,
    )
    with needs_torch("--lift"), part_progress() as done:
        report = gate_lift(where, lifting, settings, done=done)
    output.deliver(report)
    return report


def numbers(option: str, text: str) -> tuple[int, ...]:
    """Numbers with commas.

    Raises:
        click.UsageError: they are none, or negative.
    """
    found = [one.strip() for one in text.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 20 for one in found):
        raise click.UsageError(f"{option} {text!r}: write numbers with commas, e.g. 12,8")
    return tuple(map(int, found))
