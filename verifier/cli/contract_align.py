"""``shardproof contract align``: blocks of state under a rule of cutting, for every size."""

from __future__ import annotations

import re
from typing import cast

import click

from verifier.audit.alignments import alignment_report
from verifier.cli.output import Output, report_options
from verifier.symbolic.alignment import MOST_WORLD, AlignmentClaim, CutRule


def _worlds(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...] | None:
    """``8``, ``2..16`` or ``any``."""
    if value == "any":
        return None
    match = re.fullmatch(r"([0-9]{1,5})(?:\.\.([0-9]{1,5}))?", value)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 2 <= first <= last <= MOST_WORLD:
        raise click.BadParameter(
            f"{value!r} is no number of ranks from 2 to {MOST_WORLD}, no range and not any"
        )
    return tuple(range(first, last + 1))


@click.command("align")
@click.option("--block", type=click.IntRange(1, 2**31), required=True, help="Elements that share one value.")
@click.option(
    "--rule",
    type=click.Choice(["chunk", "even", "rows"]),
    required=True,
    help="ceil(n / ranks) elements each, equal parts, or ceil(n / ranks) rows of a matrix.",
)
@click.option("--columns", type=click.IntRange(1, 2**31), help="Of the matrix, for rows; all by default.")
@click.option(
    "--world",
    callback=_worlds,
    default="2..16",
    show_default=True,
    metavar="RANKS",
    help="One number of ranks, a range, or any.",
)
@click.option(
    "--multiple",
    type=click.IntRange(1, 2**31),
    default=1,
    show_default=True,
    help="Only sizes (elements, or rows) that are multiples of this.",
)
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    block: int,
    rule: str,
    columns: int | None,
    world: tuple[int, ...] | None,
    multiple: int,
    output: Output,
) -> None:
    """Prove for every size that no block is split, or show the smallest parameter where one is.

    \b
    shardproof contract align --block 256 --rule rows --columns 1024
    shardproof contract align --block 256 --rule chunk --world 2..8
    """
    if columns is not None and rule != "rows":
        raise click.UsageError("--columns belongs to --rule rows")
    claim = AlignmentClaim(
        block=block, rule=cast(CutRule, rule), worlds=world, columns=columns, multiple=multiple
    )
    report = alignment_report(claim)
    output.deliver(report)
    context.exit(report.exit_code)
