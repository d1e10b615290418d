"""What ``show MAP`` prints: the parameter with its holders, then the shards with their pieces."""

from __future__ import annotations

from dataclasses import replace

from verifier.diagnostics.finding import Picture
from verifier.diagnostics.holders import block_text, is_block, shard_phrase
from verifier.diagnostics.pictures import holders_picture, shard_picture
from verifier.diagnostics.snippets import affine_text
from verifier.diagnostics.windows import SPAN
from verifier.diagnostics.wording import counted, shape_text, shown_name
from verifier.model.shard_map import RankShard, ShardMap
from verifier.render.grid import picture_lines
from verifier.render.lines import Line, hanging, line, paint

WHOLE = 16
"""A tensor of at most so many cells in each direction is drawn whole, a larger one from its first cell on."""
RANKS = 8
PIECES = 10


def render_map(shard_map: ShardMap, *, color: bool = False) -> str:
    """The picture of a map as text."""
    return paint(map_lines(shard_map), color=color)


def map_lines(shard_map: ShardMap) -> list[Line]:
    """The picture of a map: at most ``RANKS`` ranks, ``PIECES`` pieces of each."""
    pieces = sum(len(shard.pieces) for shard in shard_map.ranks.values())
    about = (
        f"parameter {shown_name(shard_map.name)} {shape_text(shard_map.logical_shape)}, "
        f"{counted(len(shard_map.ranks), shard_map.holder)}, {counted(pieces, 'piece')}"
    )
    lines = [
        *hanging((), about),
        (),
        *_drawn(holders_picture(shard_map, 0, span=_span(shard_map.logical_shape)), shard_map.numel),
    ]
    shown = list(shard_map.ranks.items())[:RANKS]
    for rank, shard in shown:
        lines += [(), *hanging((), f"{shard_phrase(shard_map, rank)} {shape_text(shard.shard_shape)}")]
        lines += [
            *_pieces(shard_map, rank, shard),
            *_drawn(shard_picture(shard_map, rank, 0, span=_span(shard.shard_shape)), shard.numel),
        ]
    if len(shard_map.ranks) > len(shown):
        lines += [(), line(f"and {counted(len(shard_map.ranks) - len(shown), f'more {shard_map.holder}')}")]
    return lines


def _span(shape: tuple[int, ...]) -> int:
    return WHOLE if max(shape[-2:], default=1) <= WHOLE else SPAN


def _drawn(picture: Picture | None, numel: int) -> list[Line]:
    if numel == 0:
        return [line("  no elements")]
    if picture is None:
        return [line("  too large, or too many pieces at its beginning, to be drawn")]
    return picture_lines(replace(picture, witness=None))


def _pieces(shard_map: ShardMap, rank: int, shard: RankShard) -> list[Line]:
    if is_block(shard_map, rank) and (box := block_text(shard_map, rank, shard.pieces[0])) is not None:
        return hanging(line("  "), box)
    lines: list[Line] = []
    for position, piece in enumerate(shard.pieces[:PIECES]):
        lines += hanging(line(f"  piece {position} "), affine_text(piece)[0])
    if len(shard.pieces) > PIECES:
        lines.append(line(f"  and {counted(len(shard.pieces) - PIECES, 'more piece')}"))
    return lines
