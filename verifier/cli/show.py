"""``shardproof show``: pictures of maps in the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.cli.maps import named_maps
from verifier.cli.output import color_option, use_color
from verifier.cli.paths import NamedPath
from verifier.cli.requests import input_format_option
from verifier.render.lines import ColorMode
from verifier.render.show import render_map


@click.command("show")
@click.argument("path", type=NamedPath(), metavar="MAP")
@click.option("--name", default=None, help="Only the parameter of this name.")
@input_format_option
@color_option
def command(path: Path, name: str | None, input_format: str | None, color: ColorMode) -> None:
    """Draw the parameter and every shard of MAP: which piece holds which element.

    \b
    shardproof show map.json
    shardproof show checkpoint/ --name layers.0.mlp.down_proj.weight
    """
    maps = named_maps(path, name, input_format=input_format)
    texts = [render_map(shard_map, color=use_color(color)) for shard_map in maps]
    click.echo("\n".join(texts), nl=False, color=True)
