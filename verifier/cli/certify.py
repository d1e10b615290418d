"""``shardproof certify``: hand certificates to the independent checker."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.certificates.check import Rejected, check_text
from verifier.diagnostics.report import EXIT_PROVED, EXIT_REFUTED, EXIT_UNREADABLE

_EXITS = (EXIT_UNREADABLE, EXIT_REFUTED, EXIT_PROVED)


@click.command("certify")
@click.argument("certificates", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERT...")
@click.pass_context
def command(context: click.Context, /, certificates: tuple[Path, ...]) -> None:
    """Check certificates with the trusted checker, one small file that shares no code with the engines.

    Exit code 0 when all are accepted, 1 when one is rejected, 2 when one cannot be read.

    \b
    shardproof audit checkpoint/ --certificates certs/
    shardproof certify certs/*.cert.json
    """
    exits = [_certified(path) for path in certificates]
    context.exit(next(code for code in _EXITS if code in exits))


def _certified(path: Path) -> int:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        click.echo(f"unreadable  {path}: {getattr(error, 'strerror', None) or error}")
        return EXIT_UNREADABLE
    try:
        assumptions = check_text(text)
    except Rejected as rejected:
        click.echo(f"rejected    {path}: {rejected}")
        return EXIT_REFUTED
    rests = f", but {'; '.join(assumptions)}" if assumptions else ""
    click.echo(f"accepted    {path}{rests}")
    return EXIT_PROVED
