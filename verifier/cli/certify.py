"""``shardproof certify``: hand certificates to the independent checkers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from verifier.certificates import check_boxes, check_sizes
from verifier.certificates.check import Rejected, check_text
from verifier.cli.paths import NamedPath, UnreadableError, read_text, shown
from verifier.diagnostics.report import EXIT_PROVED, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_UNREADABLE
from verifier.diagnostics.wording import counted, escaped

MOST_MEBIBYTES = 128
"""A larger certificate is not read."""
_REASON_LENGTH = 300
_EXITS = (EXIT_UNREADABLE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_PROVED)
_SCHEMA = re.compile(r'"schema"\s*:\s*"shardproof\.(certificate|boxes|sizes)/1"')
_REJECTIONS = (Rejected, check_boxes.Rejected, check_sizes.Rejected)


@click.command("certify")
@click.argument("certificates", nargs=-1, required=True, type=NamedPath(), metavar="CERT...")
@click.option(
    "--trust-solvers",
    is_flag=True,
    help="Exit with 0 also when a proof rests on what nobody here can check.",
)
@click.pass_context
def command(context: click.Context, /, certificates: tuple[Path, ...], trust_solvers: bool) -> None:
    """Check certificates with the trusted checkers, small files that share no code with the engines.

    The checker of proofs for all sizes may leave signs of polynomials open. It writes each as a closed script
    of linear arithmetic, which is put to z3, and to cvc5 where that is installed; what they confirm is said.

    Exit code 0 when all are accepted, 1 when one is rejected, 2 when one cannot be read, 3 when one is
    accepted but rests on what was not confirmed here, the claim of a solver in the file, say. With
    --trust-solvers that is 0.

    \b
    shardproof audit checkpoint/ --certificates certs/
    shardproof gate pkg.plans:qkv --certificates certs/
    shardproof certify certs/*.cert.json
    """
    exits = [_certified(path, trust_solvers=trust_solvers) for path in certificates]
    context.exit(next(code for code in _EXITS if code in exits))


class _Accepted(NamedTuple):
    """What was confirmed, and what was not: both are shown, only the latter has to be trusted."""

    confirmed: str
    resting: str


def _certified(path: Path, *, trust_solvers: bool) -> int:
    try:
        text = read_text(path, mebibytes=MOST_MEBIBYTES)
    except UnreadableError as error:
        click.echo(f"unreadable  {shown(path)}: {error}")
        return EXIT_UNREADABLE
    checker = _checker(text)
    if checker is None:
        click.echo(f"unreadable  {shown(path)}: is no certificate: it names no schema of one")
        return EXIT_UNREADABLE
    try:
        accepted = checker(text)
    except _REJECTIONS as rejected:
        click.echo(f"rejected    {shown(path)}: {_short(str(rejected))}")
        return EXIT_REFUTED
    about = f" ({accepted.confirmed})" if accepted.confirmed else ""
    if not accepted.resting:
        click.echo(f"accepted    {shown(path)}{about}")
        return EXIT_PROVED
    click.echo(f"accepted, resting on {_short(accepted.resting)}: {shown(path)}{about}")
    return EXIT_PROVED if trust_solvers else EXIT_UNDECIDED


def _checker(text: str) -> Callable[[str], _Accepted] | None:
    """The checker for a kind of certificate, which reads the schema again; None for what is none."""
    found = _SCHEMA.search(text)
    kinds = {"certificate": _map_checked, "boxes": _boxes_checked, "sizes": _sizes_checked}
    return None if found is None else kinds[found[1]]


def _map_checked(text: str) -> _Accepted:
    return _Accepted("", _solvers(check_text(text)))


def _boxes_checked(text: str) -> _Accepted:
    check_boxes.check_text(text)
    return _Accepted("", "")


def _sizes_checked(text: str) -> _Accepted:
    from verifier.symbolic.discharge import discharge  # z3

    maps, scripts, unchecked = check_sizes.check_text(text)
    discharged = discharge(scripts)
    counts = [f"{number} by {name}" for name, number in discharged.confirmed.items()]
    signs = f"; {counted(len(scripts), 'linear claim')}, confirmed {', '.join(counts) or 'by nobody'}"
    resting = list(unchecked)
    if discharged.left:
        resting.insert(
            0, f"{counted(len(discharged.left), 'unconfirmed linear claim')}, one for {discharged.left[0]}"
        )
    return _Accepted(f"all sizes, {counted(maps, 'map')}{signs if scripts else ''}", "; ".join(resting))


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
