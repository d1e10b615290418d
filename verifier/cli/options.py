"""Options that several commands share: engine, budget, processes, oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from verifier.audit.check import Settings
from verifier.budget import Budget
from verifier.engines.registry import ENGINES

F = TypeVar("F", bound=Callable[..., Any])


def settings_options(function: F) -> F:
    """``--engine``, ``--cross-check``, ``--budget``, ``--oracle``, ``--device``, ``--strict``."""
    options = (
        click.option(
            "--engine", type=click.Choice(list(ENGINES)), default="auto", show_default=True,
            help="Who decides. auto asks cancel first and the others only past its budget.",
        ),
        click.option(
            "--cross-check", is_flag=True,
            help="Put every question to every engine, none taken from --cache; a disagreement is TB101.",
        ),
        click.option(
            "--budget", metavar="xN", default="x1", show_default=True, callback=_budget,
            help="Multiply every work limit, e.g. x10.",
        ),
        click.option("--oracle", is_flag=True, help="Also run the maps in torch (extra: oracle)."),
        click.option(
            "--device", default="cpu", show_default=True, help="Device of --oracle, e.g. cuda:0."
        ),
        click.option(
            "--strict", is_flag=True,
            help="Demand canonical form too: warnings of maps and files (SM7xx, CK2xx) are refutations.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def jobs_option(function: F) -> F:
    """``-j``: processes. The output does not depend on it."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes."
    )(function)


def scheduler_option(function: F) -> F:
    """``--scheduler``: a cluster instead of processes. The output does not depend on it either."""
    return click.option(
        "--scheduler", metavar="ADDRESS", help="Run on a dask.distributed cluster (extra: cluster)."
    )(function)


def _budget(_context: click.Context, _parameter: click.Parameter, value: str) -> Budget:
    try:
        return Budget().scaled(float(value.removeprefix("x")))
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{value!r} is not a factor such as x10") from None


def make_settings(
    *, engine: str, cross_check: bool, budget: Budget, oracle: bool, device: str, strict: bool
) -> Settings:
    """The settings that the shared options stand for.

    Raises:
        click.ClickException: torch is asked for and not installed.
    """
    if oracle:
        from importlib.util import find_spec

        if find_spec("torch") is None:
            raise click.ClickException("--oracle needs torch: pip install 'shardproof[oracle]'")
    return Settings(
        engine=engine,
        budget=budget,
        cross_check=cross_check,
        oracle=device if oracle else None,
        strict=strict,
    )
