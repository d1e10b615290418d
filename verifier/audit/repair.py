"""Small edits that make a refuted map sound. An edit is offered only after the edited map was proved.

A sound map need not be the intended one; the help says what was verified and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.diagnostics.holders import block_text, is_block, piece_phrase
from verifier.geometry.strided import StridedView, row_major
from verifier.model.expectation import Expectation
from verifier.model.numbers import NUMBER_LIMIT
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.verdicts import Proved

MOST_PIECES = 256
"""Larger maps are not edited: every attempt costs a proof."""
MOST_ATTEMPTS = 64
SHIFTS = (1, -1, 2, -2, 3, -3, 4, -4)
"""Slips of the hand worth trying on the pieces at fault."""

Edit = tuple[int, int, Piece, str]
"""(rank, position, the new piece, the member that changed as text)."""


def find_repair(
    shard_map: ShardMap, expectation: Expectation, fault: Fault, answering: Answering
) -> str | None:
    """A one-number edit after which every obligation is proved, as a help line; None when there is none."""
    if sum(len(shard.pieces) for shard in shard_map.ranks.values()) > MOST_PIECES:
        return None
    for attempt, (rank, position, piece, text) in enumerate(_edits(shard_map, fault)):
        if attempt >= MOST_ATTEMPTS:
            return None
        edited = _with_piece(shard_map, rank, position, piece)
        if isinstance(judge(edited, expectation, answering).verdict, Proved):
            return f"{_shown(edited, rank, position, text)} makes the map sound (all re-proved)"
    return None


def _shown(edited: ShardMap, rank: int, position: int, text: str) -> str:
    """The edit as people write it: a stored block by its box, a piece by the member that changed."""
    if is_block(edited, rank):
        box = block_text(edited, rank, edited.ranks[rank].pieces[position])
        if box is not None:
            return box.replace(": ", " with ", 1)
    return f"{piece_phrase(edited, rank, position)} with {text}"


def _with_piece(shard_map: ShardMap, rank: int, position: int, piece: Piece) -> ShardMap:
    shard = shard_map.ranks[rank]
    pieces = (*shard.pieces[:position], piece, *shard.pieces[position + 1 :])
    return replace(shard_map, ranks={**shard_map.ranks, rank: replace(shard, pieces=pieces)})


def _edits(shard_map: ShardMap, fault: Fault) -> Iterator[Edit]:
    """Edits of the pieces at fault, the culprit first, then of the other pieces of the rank or map."""
    for rank, position, side, view in _views(shard_map, fault):
        if all(abs(number) < NUMBER_LIMIT for number in (view.offset, *view.strides)):
            yield rank, position, *_changed(shard_map.ranks[rank].pieces[position], side, view)


def _views(shard_map: ShardMap, fault: Fault) -> Iterator[tuple[int, int, str, StridedView]]:
    """Views that may stand in the place of one that a piece has, whether or not a piece may hold them."""
    shard_targets, parameter_targets = _wanted(fault)
    for rank, position in _suspects(shard_map, fault):
        piece = shard_map.ranks[rank].pieces[position]
        for address in shard_targets:
            yield rank, position, "dest", replace(piece.dest, offset=address)
        for address in parameter_targets:
            yield rank, position, "source", replace(piece.source, offset=address)
        for shift in SHIFTS if (rank, position) in fault.pieces else ():
            yield rank, position, "source", replace(piece.source, offset=piece.source.offset + shift)
            yield rank, position, "dest", replace(piece.dest, offset=piece.dest.offset + shift)
        for strides in _other_strides(piece.dest, shard_map.ranks[rank].shard_shape):
            yield rank, position, "dest", replace(piece.dest, strides=strides)
        for strides in _other_strides(piece.source, shard_map.logical_shape):
            yield rank, position, "source", replace(piece.source, strides=strides)


def _wanted(fault: Fault) -> tuple[list[int], list[int]]:
    """Least unwritten shard address and least unheld element among a fault and its consequences."""
    related = (fault, *fault.consequences, *[c for f in fault.consequences for c in f.consequences])
    on_shard = [f.address for f in related if f.code == "SM203" and f.address is not None]
    on_parameter = [f.address for f in related if f.code == "SM301" and f.address is not None]
    return on_shard[:1], on_parameter[:1]


def _suspects(shard_map: ShardMap, fault: Fault) -> list[tuple[int, int]]:
    named = [*reversed(fault.pieces)]
    for consequence in fault.consequences:
        named += reversed(consequence.pieces)
    ranks = shard_map.ranks if fault.rank is None or fault.side == "parameter" else [fault.rank]
    others = [(rank, k) for rank in ranks for k in range(len(shard_map.ranks[rank].pieces))]
    return [
        (rank, position)
        for rank, position in dict.fromkeys([*named, *others])
        if not shard_map.ranks[rank].pieces[position].is_empty
    ]


def _changed(piece: Piece, side: str, view: StridedView) -> tuple[Piece, str]:
    changed = replace(piece, dest=view) if side == "dest" else replace(piece, source=view)
    return changed, f'"{side}": [{view.offset}, {list(view.strides)}]'


def _other_strides(view: StridedView, shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The row-major strides of the declared tensor, where the view has others."""
    expected = row_major(shape)
    if len(expected) == len(view.strides) and expected != view.strides:
        yield expected
