"""Reading the one map that a command is about."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.cli.paths import shown
from verifier.diagnostics.wording import escaped, shown_name
from verifier.formats import FormatError, Request, read
from verifier.model.shard_map import ShardMap

NAMES_LISTED = 8


def maps_of(path: Path, *, input_format: str | None = None) -> list[ShardMap]:
    """Every map of a document.

    Raises:
        click.ClickException: the document or a part of it cannot be read, or holds no map.
    """
    try:
        document = read(path, request=Request(input_format=input_format))
    except FormatError as error:
        raise click.ClickException(f"{escaped(str(error))}\n  = help: {escaped(error.help)}") from error
    if document.refusals:
        refusal = document.refusals[0]
        raise click.ClickException(
            f"{refusal.code} {escaped(f'{refusal.origin}: {refusal.message}')}\n"
            f"  = help: {escaped(refusal.help)}"
        )
    maps = document.maps
    if not maps:
        raise click.ClickException(f"{shown(path)} holds no map")
    return list(maps)


def named_maps(path: Path, name: str | None, *, input_format: str | None = None) -> list[ShardMap]:
    """The maps of a document, or the one with a given parameter name.

    Raises:
        click.ClickException: nothing can be read, or no map has that name.
    """
    maps = maps_of(path, input_format=input_format)
    if name is None:
        return maps
    chosen = [shard_map for shard_map in maps if shard_map.name == name]
    if not chosen:
        known = escaped(", ".join(shown_name(shard_map.name) for shard_map in maps[:NAMES_LISTED]))
        left = len(maps) - NAMES_LISTED
        more = f", ... ({left} more)" if left > 0 else ""
        raise click.ClickException(
            f"{shown(path)} has no map named {escaped(shown_name(name))}; it has {known}{more}"
        )
    return chosen
