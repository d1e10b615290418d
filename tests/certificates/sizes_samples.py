"""Small proofs for all sizes, as certificates in JSON, that between them have every member and every node."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.symbolic.judging import judge
from verifier import layouts
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.symbolic.constructor import prove_constructor
from verifier.symbolic.domain import Sizes, size, sizes
from verifier.symbolic.encode_sizes import certificate_json
from verifier.symbolic.results import ProvedForAll


def columns(rows: int, widths: list[int]) -> ShardMap:
    """A matrix whose columns are cut as the widths say."""
    return layouts.contiguous((rows, sum(widths)), widths, 1)


def by_halves(rows: int, columns: int) -> ShardMap:
    """Rows in two chunks, the first the larger."""
    half = -(-rows // 2)
    shards = {}
    for rank, (low, high) in enumerate([(0, half), (half, rows)]):
        source = StridedView(low * columns, (high - low, columns), (columns, 1))
        dest = StridedView(0, (high - low, columns), (columns, 1))
        shards[rank] = RankShard((high - low, columns), (Piece(source, dest, (rank,)),))
    return ShardMap(name="w", logical_shape=(rows, columns), ranks=shards)


def no_odd(rows: int, columns: int) -> ShardMap:
    """Rows in two halves; odd numbers are refused, small ones not cut."""
    if rows % 2:
        raise ValueError("odd")
    return by_halves(rows, columns) if rows >= 4 else layouts.contiguous((rows, columns), [rows, 0], 0)


SAMPLES: dict[str, tuple[Any, Sizes, Any]] = {
    "columns": (columns, Sizes(rows=size(), widths=sizes(2)), None),
    "halves": (by_halves, Sizes(rows=size(least=1), columns=size()), None),
    "even": (no_odd, Sizes(rows=size(), columns=size(), where=lambda columns: columns != 1), None),
    "heads": (layouts.attention_heads, Sizes(heads=2, head_dim=size(), hidden=size(), ranks=4), None),
    "scaled": (layouts.replicated, Sizes(shape=(size(), 3), ranks=2, scale=0.5), None),
    "vocabulary": (layouts.vocabulary, Sizes(rows=size(), hidden=size(), ranks=2), None),
    "like": (
        by_halves,
        Sizes(rows=size(), columns=size()),
        lambda rows, columns: layouts.split((rows, columns), 2, 0, "chunk"),
    ),
}


@cache
def sample(name: str) -> Any:
    """The certificate of a sample; not to be changed."""
    constructor, over, reference = SAMPLES[name]
    found = prove_constructor(constructor, over, judge=judge, reference=reference)
    assert isinstance(found, ProvedForAll), found
    (choice,) = found.certificate.choices
    return certificate_json(name, choice)
