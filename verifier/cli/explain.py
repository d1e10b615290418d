"""``shardproof explain``: what a code means."""

from __future__ import annotations

import click

from verifier.diagnostics.codes import UnknownCodeError, code_of
from verifier.diagnostics.pages import page_of


@click.command("explain")
@click.argument("code")
def command(code: str) -> None:
    """Explain a diagnostic CODE (SM201) or its name (overlapping-write): meaning, example, repair.

    \b
    shardproof explain SM201
    """
    try:
        entry = code_of(code)
    except UnknownCodeError as error:
        raise click.ClickException(str(error)) from error
    page = page_of(entry)
    if page is None:
        raise click.ClickException(f"{entry.code} ({entry.name}): {entry.summary}. No command emits it yet.")
    click.echo(page, nl=False)
