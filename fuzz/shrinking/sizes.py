"""Reductions of sizes that keep a right map right.

A run of one axis of the parameter goes. On each rank the cells that held it go too, and whatever lies behind
moves together. Wrong maps may also lose the run on one side alone. What a map has differently from the one
that is followed (an offset, a stride, an extent), it has differently by as much afterwards.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from fuzz.shrinking.cuts import WHOLE, Cut, MisfitError, Shape, grids_shown, narrowed, run_of
from fuzz.shrinking.example import Example, Place, twin, without
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

SHORT = 64
"""Longer axes lose runs at their ends only."""
Grids = Mapping[int, Shape]
"""How each shard is read, by rank."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """What is taken out of the parameter, if anything, and of shards."""

    parameter: Cut | None
    shards: Mapping[int, Cut]

    def piece(self, rank: int, piece: Piece) -> tuple[Piece, ...]:
        """The piece afterwards; none where all of it was taken out.

        Raises:
            MisfitError: it is no piece any more.
        """
        source, dest = self.parameter, self.shards.get(rank)
        elements = None if source is None else source.taken(piece.source)
        cells = None if dest is None else dest.taken(piece.dest)
        if WHOLE in (elements, cells):
            return ()
        if source is not None and dest is not None and elements != cells:
            raise MisfitError("other elements than cells are taken out")
        taken = elements if dest is None else cells
        views = [
            narrowed(view, taken) if cut is None else cut.view_after(view, taken)
            for view, cut in ((piece.source, source), (piece.dest, dest))
        ]
        return (replace(piece, source=views[0], dest=views[1]),)


def smaller_sizes(example: Example) -> Iterator[Example]:
    """The example with runs taken out, wide ones first; each of its maps is the one that is followed."""
    followed = dict(list(example.maps())[::-1])
    for model in followed.values():
        for cuts in (*_cuts_of_both_sides(model), *_cuts_of_one_side(model)):
            try:
                smaller = _smaller(example, model, cuts)
            except ValueError:  # a misfit, or numbers that no map can hold
                continue
            emptied = [rank for rank, cut in cuts.shards.items() if not math.prod(cut.after)]
            if emptied:
                yield smaller.everywhere(partial(without, ranks=emptied))
            yield smaller


def _cuts_of_both_sides(model: ShardMap) -> Iterator[Cuts]:
    sources = [piece.source for _, _, piece in model.pieces()]
    shown = {rank: _grids_of(shard) for rank, shard in model.ranks.items()}
    readings = [{rank: grids[which] for rank, grids in shown.items()} for which in range(3)]
    distinct = [reading for at, reading in enumerate(readings) if reading not in readings[:at]]
    for grid in dict.fromkeys((model.logical_shape, *grids_shown(model.numel, sources))):
        for cut in _cuts(grid):
            for grids in distinct:
                try:
                    yield Cuts(cut, _shard_cuts(model, cut, grids))
                except MisfitError:
                    continue


def _grids_of(shard: RankShard) -> tuple[Shape, Shape, Shape]:
    """How a shard may be read: as it is written, or as its pieces show."""
    return shard.shard_shape, *grids_shown(shard.numel, [piece.dest for piece in shard.pieces])


def _cuts_of_one_side(model: ShardMap) -> Iterator[Cuts]:
    for rank, shard in model.ranks.items():
        for grid in dict.fromkeys(_grids_of(shard)):
            for cut in _cuts(grid):
                yield Cuts(None, {rank: cut})
    for cut in _cuts(model.logical_shape):
        yield Cuts(cut, {})


def _cuts(grid: Shape) -> Iterator[Cut]:
    for axis, n in enumerate(grid):
        width = n // 2
        while width:
            starts = range(n - width, -1, -width) if n <= SHORT else (n - width,)
            for start in dict.fromkeys((*starts, 0)):
                yield Cut(grid, axis, start, width)
            width //= 2


def _shard_cuts(model: ShardMap, cut: Cut, grids: Mapping[int, Shape]) -> dict[int, Cut]:
    """On each rank, the cells that hold what is taken out.

    Raises:
        MisfitError: they are no run of one axis.
    """
    found: dict[int, Cut] = {}
    for rank, shard in model.ranks.items():
        grid = grids[rank]
        runs: list[tuple[int, int, int]] = []
        for piece in shard.pieces:
            taken = None if piece.is_empty else cut.taken(piece.source)
            if taken is not None:
                runs.append(run_of(piece.dest, taken, grid))
        if runs:
            found[rank] = _joined(sorted(runs), grid)
    return found


def _joined(runs: Sequence[tuple[int, int, int]], grid: Shape) -> Cut:
    """Runs (axis, start, stop), ascending, as one."""
    axis, low, high = runs[0]
    for other, start, stop in runs[1:]:
        if other != axis or start > high:
            raise MisfitError("the cells are no run of one axis")
        high = max(high, stop)
    return Cut(grid, axis, low, high - low)


def _smaller(example: Example, model: ShardMap, cuts: Cuts) -> Example:
    images = {(rank, at): cuts.piece(rank, piece) for rank, at, piece in model.pieces()}
    expectation = example.expectation
    holes = {rank: _moved(cells, cuts.shards.get(rank)) for rank, cells in expectation.holes.items()}
    gaps = _moved(expectation.gaps, cuts.parameter)
    smaller = replace(example, expectation=replace(expectation, holes=holes, gaps=gaps))
    reference = example.expectation.reference
    for role, shard_map in example.maps():
        with contextlib.suppress(ValueError):  # that map stays as it is
            smaller = smaller.with_map(role, _map_after(shard_map, model, images, cuts))
        if (shard_map is reference) != (model is reference) and cuts.parameter is not None:
            with contextlib.suppress(ValueError):  # another function: the elements are in other cells
                smaller = smaller.with_map(role, _alone_after(shard_map, cuts.parameter, cuts))
    return smaller


def _alone_after(shard_map: ShardMap, cut: Cut, followed: Cuts) -> ShardMap:
    """A map after the same cut of the parameter, its own cells taken out."""
    grids = {rank: shard.shard_shape for rank, shard in shard_map.ranks.items()}
    for rank, other in followed.shards.items():
        if rank in grids and math.prod(other.grid) == math.prod(grids[rank]):
            grids[rank] = other.grid
    cuts = Cuts(cut, _shard_cuts(shard_map, cut, grids))
    images = {(rank, at): cuts.piece(rank, piece) for rank, at, piece in shard_map.pieces()}
    return _map_after(shard_map, shard_map, images, cuts)


def _moved(addresses: Shape, cut: Cut | None) -> Shape:
    if cut is None:
        return addresses
    found = [cut.address_after(address) for address in addresses]
    return tuple([address for address in found if address is not None])


def _map_after(
    shard_map: ShardMap, model: ShardMap, images: Mapping[Place, tuple[Piece, ...]], cuts: Cuts
) -> ShardMap:
    ranks: dict[int, RankShard] = {}
    for rank, shard in shard_map.ranks.items():
        pieces: list[Piece] = []
        for at, piece in enumerate(shard.pieces):
            place = twin(model, shard_map, (rank, at))
            try:
                pieces += cuts.piece(rank, piece)
            except MisfitError:
                if place is None:
                    raise
                pieces += _carried(piece, model.ranks[place[0]].pieces[place[1]], images[place])
        shape, cut = shard.shard_shape, cuts.shards.get(rank)
        if cut is not None:
            shape = _shape_carried(shape, model.ranks[rank].shard_shape, cut)
        ranks[rank] = RankShard(shape, tuple(pieces))
    logical = shard_map.logical_shape
    if cuts.parameter is not None:
        logical = _shape_carried(logical, model.logical_shape, cuts.parameter)
    return replace(shard_map, logical_shape=logical, ranks=ranks)


def _carried(piece: Piece, before: Piece, after: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """A piece that differs from another one, after that one changed: it differs by the same numbers."""
    if not after:
        return ()
    if len(piece.shape) != len(before.shape):
        raise MisfitError("the pieces have other axes")
    shape = _sum(piece.shape, after[0].shape, before.shape)
    if min(shape, default=0) < 0:
        raise MisfitError("nothing of the piece is left")
    source, dest = (
        StridedView(
            view.offset + new.offset - old.offset, shape, _sum(view.strides, new.strides, old.strides)
        )
        for view, new, old in (
            (piece.source, after[0].source, before.source),
            (piece.dest, after[0].dest, before.dest),
        )
    )
    return (replace(piece, source=source, dest=dest),)


def _shape_carried(shape: Shape, before: Shape, cut: Cut) -> Shape:
    after = cut.shape_after(before)
    if shape == before:
        return after
    if not len(shape) == len(before) == len(after):
        raise MisfitError("the shapes have other dimensions")
    carried = _sum(shape, after, before)
    if min(carried) < 0 or math.prod(carried) > math.prod(shape):
        raise MisfitError("the shape did not become smaller")
    return carried


def _sum(numbers: Shape, after: Shape, before: Shape) -> Shape:
    return tuple([n + a - b for n, a, b in zip(numbers, after, before, strict=True)])
