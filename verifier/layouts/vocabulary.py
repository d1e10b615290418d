"""Embeddings and output heads: rows padded so that every rank has as many."""

from __future__ import annotations

from verifier.geometry.axis_parts import between
from verifier.geometry.strided import StridedView, row_major
from verifier.layouts.blocks import NAME
from verifier.layouts.errors import BadLayout, too_large
from verifier.layouts.padding import Padded
from verifier.layouts.sizes import Size, known_empty, require_count, require_size
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap


def vocabulary(rows: Size, hidden: Size | None, ranks: int, multiple: int | None = None) -> Padded:
    """The rows of a vocabulary, cut into equal shards of which the last ones may end in padding.

    The parameter is (rows, hidden), a bias (rows,). The rows are padded to the next multiple of
    ``multiple``, and each rank has as many of the padded ones; what is no row is padding.

    Args:
        rows: of the vocabulary, padding not counted.
        hidden: columns; None for a bias.
        ranks: how many; they are numbered from 0.
        multiple: a multiple of ``ranks``; None is ``ranks`` itself. Megatron takes
            ``make_vocab_size_divisible_by`` times ranks, vLLM 64.

    Raises:
        BadLayout: ``multiple`` is no multiple of ``ranks``, or a size or a count is no such number.
    """
    require_size("rows", rows)
    if hidden is not None:
        require_size("hidden", hidden)
    require_count("ranks", ranks)
    unit = ranks if multiple is None else multiple
    require_count("multiple", unit)
    if unit % ranks:
        raise BadLayout("multiple", f"is {unit}, no multiple of the {ranks} ranks")
    in_shard = (rows + unit - 1) // unit * (unit // ranks)
    starts = [0, *(min(rank * in_shard, rows) for rank in range(1, ranks))]
    columns = () if hidden is None else (hidden,)
    strides = row_major((in_shard, *columns))
    shards, padding = {}, {}
    with too_large("rows"):
        for rank, width in enumerate(between([*starts, rows])):
            pieces = []
            if not known_empty(width):
                held = (width, *columns)
                source = StridedView(starts[rank] * strides[0], held, strides)
                pieces.append(Piece(source, StridedView(0, held, strides), (rank,)))
            shards[rank] = RankShard((in_shard, *columns), tuple(pieces))
            rest = in_shard - width
            if not known_empty(rest):
                padding[rank] = (StridedView(width * strides[0], (rest, *columns), strides),)
        return Padded(ShardMap(name=NAME, logical_shape=(rows, *columns), ranks=shards), padding)
