"""Reductions of what a map is made of: demands, ranks, pieces and axes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from fuzz.shrinking.example import Example, twin, with_pieces_at, without
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

Alternatives = Callable[[Piece], Iterable[tuple[Piece, ...]]]
"""What may stand in place of a piece: other pieces, or none."""


def without_demands(example: Example) -> Iterator[Example]:
    """One demand or waiver less, then fewer holes and gaps."""
    expectation, default = example.expectation, Expectation()
    for name in (
        "reference", "holes", "gaps", "cover", "lookup", "partial", "scale", "write_unit", "index_bits",
        "sum_ulps",
    ):  # fmt: skip
        given = getattr(default, name)
        if getattr(expectation, name) != given:
            yield replace(example, expectation=replace(expectation, **{name: given}))
    for rank, cells in expectation.holes.items():
        others = {other: listed for other, listed in expectation.holes.items() if other != rank}
        yield replace(example, expectation=replace(expectation, holes=others))
        for at in range(len(cells)):
            fewer = {**expectation.holes, rank: cells[:at] + cells[at + 1 :]}
            yield replace(example, expectation=replace(expectation, holes=fewer))
    for at in range(len(expectation.gaps)):
        fewer_gaps = expectation.gaps[:at] + expectation.gaps[at + 1 :]
        yield replace(example, expectation=replace(expectation, gaps=fewer_gaps))


def without_ranks(example: Example) -> Iterator[Example]:
    """Half of the ranks, or one of them, gone from all maps; named as holders no longer, or still."""
    ranks = sorted({rank for _, shard_map in example.maps() for rank in shard_map.ranks})
    half = len(ranks) // 2
    groups = [ranks[:half], ranks[half:]] if half > 1 else []
    for gone in [frozenset(group) for group in (*groups, *([rank] for rank in ranks))]:
        holes = {rank: cells for rank, cells in example.expectation.holes.items() if rank not in gone}
        fewer = replace(example, expectation=replace(example.expectation, holes=holes))
        fewer = fewer.everywhere(partial(without, ranks=gone))
        yield fewer.everywhere(partial(_unnamed, gone=gone))
        yield fewer


def _unnamed(shard_map: ShardMap, gone: frozenset[int]) -> ShardMap:
    return on_every_piece(
        shard_map,
        lambda piece: replace(piece, locations=tuple([r for r in piece.locations if r not in gone])),
    )


def on_every_piece(shard_map: ShardMap, change: Callable[[Piece], Piece]) -> ShardMap:
    """The map with all its pieces changed."""
    return _with_pieces(shard_map, lambda pieces: tuple([change(piece) for piece in pieces]))


def without_half_of_the_pieces(example: Example) -> Iterator[Example]:
    """The first or the second half of each list of pieces gone, from all maps or from one."""
    for half in (_first_half, _second_half):
        yield example.everywhere(half)
        for role, shard_map in example.maps():
            yield example.with_map(role, half(shard_map))


def _first_half(shard_map: ShardMap) -> ShardMap:
    return _with_pieces(shard_map, lambda pieces: pieces[: (len(pieces) + 1) // 2])


def _second_half(shard_map: ShardMap) -> ShardMap:
    return _with_pieces(shard_map, lambda pieces: pieces[len(pieces) // 2 :])


def _with_pieces(shard_map: ShardMap, change: Callable[[tuple[Piece, ...]], tuple[Piece, ...]]) -> ShardMap:
    ranks = {
        rank: RankShard(shard.shard_shape, change(shard.pieces)) for rank, shard in shard_map.ranks.items()
    }
    return replace(shard_map, ranks=ranks)


def on_pieces(example: Example, alternatives: Alternatives) -> Iterator[Example]:
    """Each alternative to each piece: for its twins in the other maps too, then for itself alone."""
    maps = list(example.maps())
    for role, shard_map in maps:
        for rank, at, piece in shard_map.pieces():
            for number, pieces in enumerate(alternatives(piece)):
                alone = example.with_map(role, with_pieces_at(shard_map, (rank, at), pieces))
                alike = alone
                for other_role, other in maps:
                    place = twin(other, shard_map, (rank, at)) if other_role != role else None
                    if place is not None:
                        theirs = list(alternatives(other.ranks[place[0]].pieces[place[1]]))[number:]
                        if theirs:
                            alike = alike.with_map(other_role, with_pieces_at(other, place, theirs[0]))
                if alike is not alone:
                    yield alike
                yield alone


def without_a_piece(example: Example) -> Iterator[Example]:
    """One piece less."""
    return on_pieces(example, lambda _: [()])


def without_an_axis(example: Example) -> Iterator[Example]:
    """An axis of a piece gone: only its first index is left, or its last."""

    def alternatives(piece: Piece) -> Iterator[tuple[Piece, ...]]:
        for axis, extent in enumerate(piece.shape):
            for index in (0, extent - 1) if extent > 1 else (0,):
                yield from held(partial(on_both, piece, partial(_at, axis=axis, index=index)))

    return on_pieces(example, alternatives)


def held(make: Callable[[], Piece]) -> Iterator[tuple[Piece, ...]]:
    """A piece, unless it has a number that no map can hold."""
    try:
        made = make()
    except ValueError:
        return
    yield (made,)


def on_both(piece: Piece, change: Callable[[StridedView], StridedView]) -> Piece:
    """The piece with the same change of source and dest."""
    return replace(piece, source=change(piece.source), dest=change(piece.dest))


def _at(view: StridedView, axis: int, index: int) -> StridedView:
    return StridedView(
        view.offset + index * view.strides[axis],
        view.shape[:axis] + view.shape[axis + 1 :],
        view.strides[:axis] + view.strides[axis + 1 :],
    )


def in_single_elements(example: Example) -> Example:
    """The example with each piece as many, of one element each.

    Raises:
        ValueError: an address is a number that no map can hold.
    """

    def pieces(given: tuple[Piece, ...]) -> tuple[Piece, ...]:
        return tuple([element for piece in given for element in _elements(piece)])

    return example.everywhere(lambda shard_map: _with_pieces(shard_map, pieces))


def _elements(piece: Piece) -> Iterator[Piece]:
    for index in itertools.product(*map(range, piece.shape)):
        yield on_both(piece, partial(_element, index=index))


def _element(view: StridedView, *, index: tuple[int, ...]) -> StridedView:
    return StridedView(view.address(index), (), ())


def merged_axes(example: Example) -> Iterator[Example]:
    """Two axes of a piece written as one, where both sides walk them as one."""

    def alternatives(piece: Piece) -> Iterator[tuple[Piece, ...]]:
        for high in range(len(piece.shape)):
            for low in range(len(piece.shape)):
                views = piece.source, piece.dest
                if high != low and all(v.strides[high] == v.shape[low] * v.strides[low] for v in views):
                    yield from held(partial(on_both, piece, partial(_merged, high=high, low=low)))

    return on_pieces(example, alternatives)


def _merged(view: StridedView, high: int, low: int) -> StridedView:
    """The axes as one, at the place of the lower one."""
    shape = [n * view.shape[high] if axis == low else n for axis, n in enumerate(view.shape)]
    kept = [axis for axis in range(len(shape)) if axis != high]
    return StridedView(view.offset, tuple([shape[a] for a in kept]), tuple([view.strides[a] for a in kept]))
