"""``shardproof gate``: prove layout constructors for all sizes of a domain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from verifier.cli.failures import oracle_failures, show_failure
from verifier.cli.options import make_settings, settings_options
from verifier.cli.output import Output, report_options, write_text
from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.wording import counted
from verifier.gate.domain_text import domain_of_text
from verifier.gate.predicate import TextError, predicate
from verifier.gate.run import FAILURES, Arguments, Asked, Run, configured_places, gate_places
from verifier.gate.written_test import test_name
from verifier.render.lines import hanging, line, paint
from verifier.symbolic.domain import DomainError, Sizes


@click.command("gate")
@click.argument("places", nargs=-1, metavar="MODULE:FUNCTION...")
@click.option("--over", metavar="DOMAIN", help="The sizes to be right for, instead of the declared ones.")
@click.option("--where", metavar="CONDITION", help="The precondition on them; goes with --over.")
@click.option("--reference", metavar="MODULE:FUNCTION", help="Has to make the same function, for all sizes.")
@click.option(
    "--arguments",
    type=click.Choice(["domain", "hostile"]),
    default="domain",
    show_default=True,
    help="hostile also tries bad arguments: which are refused, which give a wrong map silently.",
)
@click.option(
    "--write-tests",
    type=NamedPath(file_okay=False),
    metavar="DIR",
    help="Write a failing pytest file for every refuted constructor.",
)
@click.option("-v", "--verbose", is_flag=True, help="List refusals with their conditions, and bad arguments.")
@settings_options
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    places: tuple[str, ...],
    over: str | None,
    where: str | None,
    reference: str | None,
    arguments: Arguments,
    write_tests: Path | None,
    verbose: bool,
    output: Output,
    **settings: Any,
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
    """  # fmt: skip
    asked = Asked(over=_domain(over, where), reference=reference, arguments=arguments)
    with oracle_failures():
        run = gate_places(places or _configured(context), asked, make_settings(**settings))
    if not run.subjects:
        raise click.ClickException("\n".join(run.failures))
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
    for failure in run.failures:
        show_failure(click.ClickException(failure))
    context.exit(run.exit_code)


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


def _configured(context: click.Context) -> list[str]:
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
            "name a constructor, or give its domain in [tool.shardproof.gate] of pyproject.toml", context
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
