"""Parameters flattened, put one after another into one buffer, and the buffer cut: ZeRO and FSDP1.

The maps are about the flat parameter: all parameters one after another without padding, in elements. Where
the j-th begins there is the sum of the numels before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from verifier.geometry.axis_parts import between
from verifier.geometry.strided import StridedView
from verifier.layouts.blocks import NAME
from verifier.layouts.errors import BadLayout, too_large
from verifier.layouts.padding import Padded
from verifier.layouts.sizes import MOST_PARTS, Size, known_empty, require_count, require_sizes
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap


def flat(numels: Sequence[Size], ranks: int, alignment: int = 1, shard_multiple: int = 1) -> Padded:
    """One flat buffer cut into equal shards: ZeRO-1 and 2, FSDP1, distributed optimizers.

    Each parameter begins at a multiple of ``alignment``; the end is padded so that all shards have the same
    number of elements, a multiple of ``shard_multiple``. Rank r holds the r-th part of the buffer.

    Args:
        numels: elements of each parameter, in the order of the buffer.
        ranks: how many; they are numbered from 0.
        alignment: elements, a count. FSDP1 aligns to 16 bytes, ZeRO not at all.
        shard_multiple: elements, a count. DeepSpeed takes its ``nccl_start_alignment_factor``, 2.

    Returns:
        The map of the flat parameter, (sum of numels,) to shards (elements,), and the padding: between
        parameters, and at the end.

    Raises:
        BadLayout: no parameter, or a size or a count is no such number.
    """
    _require(numels, ranks)
    require_count("alignment", alignment)
    require_count("shard_multiple", shard_multiple)
    buffer = _Buffer(ranks)
    for numel in [sum(numels)] if alignment == 1 else numels:
        buffer.align(alignment)
        buffer.add(numel)
    unit = ranks * shard_multiple
    with too_large("numels"):
        return buffer.cut((buffer.end + unit - 1) // unit * shard_multiple)


def flat_each(numels: Sequence[Size], ranks: int) -> Padded:
    """Each flattened parameter cut into equal shards, and those put one after another: ZeRO-3.

    Of a parameter with n elements rank r holds ceil(n / ranks), from r * ceil(n / ranks) on; what lies past
    the end of the parameter is padding.

    Args:
        numels: elements of each parameter, in the order of the buffers.
        ranks: how many; they are numbered from 0.

    Returns:
        The map of the flat parameter, (sum of numels,) to shards (elements,), and the padding.

    Raises:
        BadLayout: no parameter, or a size or a count is no such number.
    """
    _require(numels, ranks)
    pieces: dict[int, list[Piece]] = {rank: [] for rank in range(ranks)}
    padding: dict[int, list[StridedView]] = {rank: [] for rank in range(ranks)}
    first: Size = 0
    dest: Size = 0
    with too_large("numels"):
        for numel in numels:
            part = (numel + ranks - 1) // ranks
            bounds = [0, *(min(rank * part, numel) for rank in range(1, ranks)), numel]
            for rank, width in enumerate(between(bounds)):
                _add_piece(pieces[rank], first + bounds[rank], dest, width, rank)
                _add_view(padding[rank], dest + width, part - width)
            first, dest = first + numel, dest + part
        return _padded(first, dest, pieces, padding)


class _Buffer:
    """A flat buffer while it is filled: where each parameter and each gap between two begins."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.end: Size = 0
        self.parameters: list[tuple[Size, Size]] = []
        self.gaps: list[tuple[Size, Size]] = []

    def add(self, numel: Size) -> None:
        """Put a parameter at the end."""
        self.parameters.append((self.end, numel))
        self.end = self.end + numel

    def align(self, unit: int) -> None:
        """Go on at the next multiple of ``unit``."""
        if self.parameters:
            aligned = (self.end + unit - 1) // unit * unit
            self.gaps.append((self.end, aligned - self.end))
            self.end = aligned

    def cut(self, shard: Size) -> Padded:
        """The layout with shards of that many elements, which together are at least as long as the buffer."""
        pieces: dict[int, list[Piece]] = {rank: [] for rank in range(self.ranks)}
        padding: dict[int, list[StridedView]] = {rank: [] for rank in range(self.ranks)}
        firsts = list(accumulate((numel for _, numel in self.parameters), initial=0))
        for first, (start, numel) in zip(firsts, self.parameters, strict=False):
            bounds = self._bounds(start, numel, shard)
            for rank, width in enumerate(between(bounds)):
                dest = start + bounds[rank] - rank * shard
                _add_piece(pieces[rank], first + bounds[rank], dest, width, rank)
        for start, length in (*self.gaps, (self.end, self.ranks * shard - self.end)):
            bounds = self._bounds(start, length, shard)
            for rank, width in enumerate(between(bounds)):
                _add_view(padding[rank], start + bounds[rank] - rank * shard, width)
        return _padded(firsts[-1], shard, pieces, padding)

    def _bounds(self, start: Size, length: Size, shard: Size) -> list[Size]:
        """Where the part of each rank of a range begins, counted from the start of the range, and its end."""
        cuts = [min(max(rank * shard - start, 0), length) for rank in range(1, self.ranks)]
        return [0, *cuts, length]


def _require(numels: Sequence[Size], ranks: int) -> None:
    require_sizes("numels", numels)
    require_count("ranks", ranks)
    require_count("len(numels)", len(numels))
    if len(numels) * ranks > MOST_PARTS:
        raise BadLayout("numels", f"and ranks make {len(numels) * ranks} parts, over {MOST_PARTS}")


def _add_piece(pieces: list[Piece], source: Size, dest: Size, width: Size, rank: int) -> None:
    if not known_empty(width):
        pieces.append(Piece(StridedView(source, (width,), (1,)), StridedView(dest, (width,), (1,)), (rank,)))


def _add_view(views: list[StridedView], start: Size, width: Size) -> None:
    if not known_empty(width):
        views.append(StridedView(start, (width,), (1,)))


def _padded(
    numel: Size, shard: Size, pieces: dict[int, list[Piece]], padding: dict[int, list[StridedView]]
) -> Padded:
    shards = {rank: RankShard((shard,), tuple(mine)) for rank, mine in pieces.items()}
    shard_map = ShardMap(name=NAME, logical_shape=(numel,), ranks=shards)
    return Padded(shard_map, {rank: tuple(views) for rank, views in padding.items() if views})
