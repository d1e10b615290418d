"""``shardproof gate``: constructors for all sizes, the layout that real code implements, live models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from verifier.cli.failures import oracle_failures
from verifier.cli.gate_constructors import constructor_options, gate_constructors
from verifier.cli.gate_lift import gate_code, lift_options
from verifier.cli.gate_model import gate_build, model_options
from verifier.cli.options import make_settings, settings_options
from verifier.cli.output import Output, report_options

CONSTRUCTORS = "MODULE:FUNCTION..."
"""What is gated where neither of the other two is asked for."""

_BELONG: Mapping[str, tuple[str, ...]] = {
    "places": (CONSTRUCTORS,),
    "over": (CONSTRUCTORS,),
    "where": (CONSTRUCTORS,),
    "arguments": (CONSTRUCTORS,),
    "write_tests": (CONSTRUCTORS,),
    "certificates": (CONSTRUCTORS,),
    "verbose": (CONSTRUCTORS,),
    "strict": (CONSTRUCTORS, "--model"),
    "reference": (CONSTRUCTORS, "--lift"),
    "loader": ("--lift",),
    "shape": ("--lift",),
    "shards": ("--lift",),
    "ranks": ("--lift", "--model"),
    "world": ("--model",),
}
"""With what each parameter goes; those that are not listed go with all."""

_CONSTRUCTOR_OPTIONS = ("over", "where", "reference", "arguments", "write_tests", "certificates", "verbose")
_LIFT_OPTIONS = ("loader", "shape", "shards", "ranks", "reference")
_SETTINGS = ("engine", "cross_check", "budget", "oracle", "device", "strict")


@click.command("gate")
@click.argument("places", nargs=-1, metavar=CONSTRUCTORS)
@constructor_options
@click.option(
    "--reference",
    metavar="MODULE:FUNCTION",
    help="Has to make the same function, for all sizes. With --lift: at this size; or a file with the map.",
)
@lift_options
@model_options
@settings_options
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    places: tuple[str, ...],
    lift: str | None,
    model: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Prove layout constructors right for all sizes, or show the smallest sizes at which they fail.

    MODULE:FUNCTION, or path/to/file.py:FUNCTION, is code that returns a map: a ShardMap, DeepSpeed's
    ParamAffineMap, or a dict of that form. It is imported and run. Its sizes are declared by the decorator
    verifier.constructor, in [tool.shardproof.gate] of pyproject.toml, or by --over. Without a place, all
    constructors of the nearest pyproject.toml are gated.

    \b
    shardproof gate plans.py:cut_rows --over 'rows=size, columns=size, ranks=1|2|4|8'
    shardproof gate pkg.plans:qkv --reference pkg.plans:qkv_as_trained
    shardproof gate deepspeed.checkpoint.affine:contiguous_split_map --arguments hostile \\
      --over 'shape=(size, size), per_rank_sizes=sizes(4), partition_dim=0' \\
      --where 'sum(per_rank_sizes) == shape[0]'

    Real code that makes no map is gated by what it does. --lift runs a partition function or weight loader
    on index tensors, and proves the map that it implements at one size. --model builds a model of DTensors
    as each rank of a job would, without the others, and checks every parameter.

    \b
    shardproof gate --lift pkg.shards:cut --shape 12,8 --ranks 4 --reference verifier.layouts:split
    shardproof gate --model pkg.models:build --world 6
    """  # fmt: skip
    _require_fitting(context, CONSTRUCTORS if not (lift or model) else "--model" if model else "--lift")
    settings = make_settings(**{name: options[name] for name in _SETTINGS})
    with oracle_failures():
        if lift is not None:
            chosen = {name: options[name] for name in _LIFT_OPTIONS}
            report = gate_code(lift, settings, output, device=options["device"], **chosen)
        elif model is not None:
            report = gate_build(model, settings, output, world=options["world"], ranks=options["ranks"])
        else:
            chosen = {name: options[name] for name in _CONSTRUCTOR_OPTIONS}
            report = gate_constructors(places, settings, output, **chosen)
    context.exit(report.exit_code)


def _require_fitting(context: click.Context, gated: str) -> None:
    """Refuse options that say nothing about what is gated.

    Raises:
        click.UsageError: the first of them.
    """
    given = {
        name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    if {"lift", "model"} <= given:
        raise click.UsageError("--lift and --model are different gates; give one of them")
    for name, places in _BELONG.items():
        if name in given and gated not in places:
            if name == "places":
                extra = context.params["places"][0]
                raise click.UsageError(
                    f"{gated} gates one function, {context.params[gated.removeprefix('--')]}, and {extra} is "
                    f"another; gate it in a run of its own"
                )
            option = f"--{name.replace('_', '-')}"
            beside = "without --lift or --model" if gated == CONSTRUCTORS else f"with {gated}"
            raise click.UsageError(f"{option} says nothing {beside}; it goes with {' and '.join(places)}")
    elsewhere = gated == "--model" or "loader" in given
    if "device" in given and elsewhere and not context.params["oracle"]:
        beside = "--loader" if "loader" in given else gated
        raise click.UsageError(f"--device says nothing with {beside}; it goes with --oracle and --lift")
