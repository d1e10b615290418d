"""What a map puts into its shards, element by element, held against what should be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fuzz.walk import addresses
from verifier.model.shard_map import ShardMap

Shard = NDArray[np.int64]
PADDING = -1


def index_tensor(shape: Sequence[int]) -> Shard:
    """A tensor in which each element is its own address."""
    return np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(tuple(shape))


def shards_of(shard_map: ShardMap) -> dict[int, Shard]:
    """Per rank, which element each cell of its shard holds; -1 where nothing writes."""
    shards = {}
    for rank, held in shard_map.ranks.items():
        cells = np.full(held.numel, PADDING, dtype=np.int64)
        for piece in held.pieces:
            for source, dest in zip(addresses(piece.source), addresses(piece.dest), strict=True):
                assert 0 <= dest < held.numel
                assert cells[dest] == PADDING
                cells[dest] = source
        shards[rank] = cells.reshape(held.shard_shape)
    return shards


def assert_holds(shard_map: ShardMap, expected: Mapping[int, Shard]) -> None:
    """Fails unless each rank holds the expected elements, in that shape, and locations say who does."""
    found = shards_of(shard_map)
    assert found.keys() == expected.keys()
    for rank, shard in found.items():
        assert shard.shape == expected[rank].shape, f"rank {rank} of {shard_map}"
        assert (shard == expected[rank]).all(), f"rank {rank} of {shard_map}"
    held = {rank: set(shard.ravel().tolist()) for rank, shard in expected.items()}
    for _, _, piece in shard_map.pieces():
        for element in addresses(piece.source):
            assert piece.locations == tuple(rank for rank in sorted(held) if element in held[rank])
