"""``shardproof certify``: hand certificates to the independent checker."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.certificates.check import Rejected, check_text
from verifier.cli.paths import NamedPath, UnreadableError, read_text, shown
from verifier.diagnostics.report import EXIT_PROVED, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_UNREADABLE
from verifier.diagnostics.wording import escaped

MOST_MEBIBYTES = 128
"""A larger certificate is not read."""
_REASON_LENGTH = 300
_EXITS = (EXIT_UNREADABLE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_PROVED)


@click.command("certify")
@click.argument("certificates", nargs=-1, required=True, type=NamedPath(), metavar="CERT...")
@click.option(
    "--trust-solvers",
    is_flag=True,
    help="Exit with 0 also when a proof rests on what a solver claims and nobody can check.",
)
@click.pass_context
def command(context: click.Context, /, certificates: tuple[Path, ...], trust_solvers: bool) -> None:
    """Check certificates with the trusted checker, one small file that shares no code with the engines.

    Exit code 0 when all are accepted, 1 when one is rejected, 2 when one cannot be read, 3 when one is
    accepted but rests on the claim of a solver, unless --trust-solvers is given.

    \b
    shardproof audit checkpoint/ --certificates certs/
    shardproof certify certs/*.cert.json
    """
    exits = [_certified(path, trust_solvers=trust_solvers) for path in certificates]
    context.exit(next(code for code in _EXITS if code in exits))


def _certified(path: Path, *, trust_solvers: bool) -> int:
    try:
        text = read_text(path, mebibytes=MOST_MEBIBYTES)
    except UnreadableError as error:
        click.echo(f"unreadable  {shown(path)}: {error}")
        return EXIT_UNREADABLE
    try:
        assumptions = check_text(text)
    except Rejected as rejected:
        click.echo(f"rejected    {shown(path)}: {_short(str(rejected))}")
        return EXIT_REFUTED
    if not assumptions:
        click.echo(f"accepted    {shown(path)}")
        return EXIT_PROVED
    click.echo(f"accepted, resting on {_short(_solvers(assumptions))}: {shown(path)}")
    return EXIT_PROVED if trust_solvers else EXIT_UNDECIDED


def _solvers(assumptions: tuple[str, ...]) -> str:
    """``'z3' '4.13.0' for shard/0, parameter``: the obligations by what they rest on."""
    by_solver: dict[str, list[str]] = {}
    for assumption in assumptions:
        obligation, _, solver = assumption.rpartition(" rests on ")
        by_solver.setdefault(solver, []).append(obligation)
    return "; ".join(f"{solver} for {', '.join(names)}" for solver, names in by_solver.items())


def _short(text: str) -> str:
    text = escaped(text)
    return text if len(text) <= _REASON_LENGTH else f"{text[: _REASON_LENGTH - 3]}..."
