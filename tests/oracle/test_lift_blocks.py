"""Blocks hold exactly the pairs they were made of, and are few where the pairs are regular."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.oracle.lift_blocks import Block, addresses, blocks_of

FULL = np.arange(12 * 8).reshape(12, 8)


def blocks(index: np.ndarray, logical_shape: tuple[int, ...] = (12, 8)) -> list[Block]:
    source = index.reshape(-1).astype(np.int64)
    dest = np.arange(source.size)
    same = np.zeros_like(dest)
    return blocks_of(source, dest, same, logical_shape=logical_shape, shard_shape=index.shape)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_blocks_hold_the_pairs_each_once(data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.integers(0, 59), unique=True, max_size=40).map(sorted))
    step = data.draw(st.sampled_from([2, 7, 200]))
    pairs = [(c, data.draw(st.integers(0, step)), data.draw(st.integers(0, 1))) for c in cells]
    dest, source, labels = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
    shard_shape = data.draw(st.sampled_from([(60,), (6, 10), (3, 4, 5)]))
    found = blocks_of(source, dest, labels, logical_shape=(20, 11), shard_shape=shard_shape)
    written = [
        (int(c), int(e), block.label)
        for block in found
        for c, e in zip(addresses(block.dest), addresses(block.source), strict=True)
    ]
    assert sorted(written) == sorted(pairs)
    assert all(
        stride >= 0 for block in found for view in (block.source, block.dest) for stride in view.strides
    )
    assert [b.dest.offset for b in found] == sorted(b.dest.offset for b in found)


@pytest.mark.parametrize(
    ("index", "count"),
    [
        (FULL[3:6], 1),
        (FULL[:, 2:4], 1),
        (FULL.T, 1),
        (FULL.reshape(-1)[13:41].reshape(4, 7), 1),
        (np.concatenate([FULL[0:3], FULL[6:8], FULL[9:10]]), 3),
        (np.concatenate([FULL[:, 0:3], FULL[:, 4:5], FULL[:, 7:8]], axis=1), 3),
        (FULL.reshape(3, 4, 8).transpose(1, 0, 2).reshape(12, 8), 3),
        (FULL[::-1], 12),
        (FULL[:0], 0),
    ],
    ids=[
        "rows",
        "columns",
        "transposed",
        "run",
        "parts of rows",
        "parts of columns",
        "heads",
        "flipped",
        "none",
    ],
)
def test_usual_cuts_are_few_blocks(index: np.ndarray, count: int) -> None:
    assert len(blocks(index)) <= count


def test_boxes_are_written_as_boxes_of_both_tensors() -> None:
    (block,) = blocks(FULL[2:9, 3:4])
    assert (block.source.shape, block.source.strides, block.source.offset) == ((7, 1), (8, 1), 19)
    assert block.dest.strides == (1, 1)


def test_many_boxes_are_merged() -> None:
    full = np.arange(64 * 3 * 16 * 4).reshape(64, 3, 16, 4)
    queries = full[:, 0, 4:8].reshape(-1, 4)
    assert len(blocks(queries, (64 * 3 * 16, 4))) == 1


def test_labels_are_never_mixed() -> None:
    dest = np.arange(6)
    found = blocks_of(dest, dest, dest // 3, logical_shape=(6,), shard_shape=(6,))
    assert [(b.label, b.source.shape) for b in found] == [(0, (3,)), (1, (3,))]
