"""The map that real code implements, taken from it by watching what it does to index tensors.

>>> from verifier.oracle.lift import lift
>>> lifted = lift(lambda tensor, rank, world: tensor.chunk(world)[rank], (6, 4), 2)
>>> [piece.source.offset for _, _, piece in lifted.shard_map.pieces()]
[0, 12]

Nothing is assumed about the code but what ``lift_probe`` then finds out or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from verifier.geometry.strided import StridedView
from verifier.model.numbers import require_ranks, require_shape
from verifier.model.piece import Piece, exact_scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.oracle.buffers import usable_device
from verifier.oracle.lift_blocks import Integers, blocks_of
from verifier.oracle.lift_calls import Loading, Partition, loading_call, made_loading, partition_call
from verifier.oracle.lift_errors import (
    BadTargetError,
    CallFailedError,
    NotAGatherError,
    TooCoarseError,
    TooLargeError,
)
from verifier.oracle.lift_probe import MOST_BITS, Call, Cells, cells_of
from verifier.oracle.lifted import Lifted

MOST_ELEMENTS = 2**24
"""Of a parameter: some hundred bytes and microseconds each; a smaller one of its form shows as much."""
MOST_CELLS = 2**26
"""Of all shards together."""
DTYPES = (torch.int64, torch.float64, torch.float32, torch.bfloat16)
"""What a partition function is given, until it accepts one."""
_BITS = (MOST_BITS, 24, 11, 8, 4, 3)
"""Digits to try: a function may round to fewer bits than its result has."""

_Attempt = Callable[[int], Call]
"""The calls of one attempt: by rank."""


def lift(
    function: Partition,
    shape: Sequence[int],
    ranks: int | Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    device: str | torch.device = "cpu",
    name: str = "lifted",
) -> Lifted:
    """The map of a partition function ``(tensor, rank, world) -> shard``.

    Args:
        function: called several times for each rank, with ``world`` the number of ranks.
        shape: of the tensor it is given.
        ranks: how many, counted from 0, or which.
        dtype: of the tensor; None tries integers first, then doubles, then fewer bits.
        device: where the tensor is made.
        name: of the map.

    Raises:
        BadTargetError: shape or ranks are none.
        CallFailedError: it raises for each dtype.
        NotATensorError, NotDeterministicError, DataDependentError, NotAGatherError, TooCoarseError: it is no
            function that a map describes, or its result cannot show it.
        TooLargeError: tensor, shards or map are more than can be looked at, or the memory of the device.
        DeviceUnavailableError: the device does not exist.
    """
    logical_shape, labels = _shape(shape), _ranks(ranks)
    where = usable_device(device)

    def attempt(given: torch.dtype) -> _Attempt:
        return lambda rank: partition_call(
            function, logical_shape, rank, len(labels), dtype=given, device=where
        )

    given = DTYPES if dtype is None else (dtype,)
    with _memory():
        cells = _first_success([attempt(one) for one in given], labels, math.prod(logical_shape))
        return _lifted(name, logical_shape, cells)


def lift_loader(
    loading: Callable[[int, int], Loading],
    ranks: int | Sequence[int],
    *,
    name: str = "lifted",
) -> Lifted:
    """The map of a loader ``(parameter, loaded, shard_id) -> None``: ``weight_loader`` of serving engines.

    The parameter of the map is what the checkpoint holds: the parts, joined in their order.

    Args:
        loading: ``(rank, world) -> Loading``; called anew for each load, so that loaders may keep state.
        ranks: how many, counted from 0, or which.
        name: of the map.

    Raises:
        As ``lift``; BadTargetError also when ranks disagree about the parts.
    """
    labels = _ranks(ranks)
    shapes = {rank: made_loading(loading, rank, len(labels)).logical_shape(rank) for rank in labels}
    logical_shape = _shape(shapes[labels[0]])
    for rank, shape in shapes.items():
        if shape != logical_shape:
            raise BadTargetError(
                rank, f"its parts make up {shape}, those of rank {labels[0]} {logical_shape}"
            )
    attempts: list[_Attempt] = [lambda rank: loading_call(loading, rank, len(labels))]
    with _memory():
        cells = _first_success(attempts, labels, math.prod(logical_shape))
        return _lifted(name, logical_shape, cells)


def _shape(shape: Sequence[int]) -> tuple[int, ...]:
    try:
        require_shape("shape", tuple(shape))
    except (TypeError, ValueError) as error:
        raise BadTargetError(None, str(error)) from error
    if math.prod(shape) > MOST_ELEMENTS:
        raise TooLargeError(
            None,
            f"a tensor of {tuple(shape)} has more than {MOST_ELEMENTS} elements; a smaller one of its form"
            " shows the same map",
        )
    return tuple(shape)


@contextmanager
def _memory() -> Iterator[None]:
    """Turns a lack of memory into TooLargeError."""
    try:
        yield
    except (MemoryError, torch.cuda.OutOfMemoryError) as error:
        raise TooLargeError(
            None, "there is not enough memory; lift a smaller tensor of the same form"
        ) from error


def _ranks(ranks: int | Sequence[int]) -> tuple[int, ...]:
    labels = tuple(range(ranks)) if isinstance(ranks, int) else tuple(ranks)
    try:
        require_ranks("ranks", labels)
    except (TypeError, ValueError) as error:
        raise BadTargetError(None, str(error)) from error
    if not labels or len(set(labels)) != len(labels):
        raise BadTargetError(None, f"ranks {ranks} are no ranks; give at least one, each once")
    return labels


def _first_success(attempts: Sequence[_Attempt], ranks: Sequence[int], numel: int) -> dict[int, Cells]:
    """The cells of all ranks by the first attempt that succeeds; raises the first refusal if none does."""
    raised: CallFailedError | None = None
    refused: NotAGatherError | TooCoarseError | None = None
    for attempt in attempts:
        for bits in _BITS:
            try:
                return _all_cells(attempt, ranks, numel, bits)
            except CallFailedError as error:
                raised = raised or error
                break
            except (NotAGatherError, TooCoarseError) as error:
                refused = refused or error
    failure = refused or raised
    if failure is None:
        raise BadTargetError(None, "there is nothing to try")
    raise failure


def _all_cells(attempt: _Attempt, ranks: Sequence[int], numel: int, bits: int) -> dict[int, Cells]:
    found: dict[int, Cells] = {}
    total = 0
    for rank in ranks:
        found[rank] = cells_of(attempt(rank), numel, rank, bits)
        total += len(found[rank].source)
        if total > MOST_CELLS:
            raise TooLargeError(rank, f"its shard and those before it have more than {MOST_CELLS} cells")
    return found


def _lifted(name: str, logical_shape: tuple[int, ...], cells: Mapping[int, Cells]) -> Lifted:
    holders = _Holders.of(math.prod(logical_shape), cells)
    shards = {rank: _shard(mine, logical_shape, holders) for rank, mine in cells.items()}
    padding = {rank: _padding(mine) for rank, mine in cells.items()}
    unwritten = {rank: int(mine.unwritten.sum()) for rank, mine in cells.items()}
    nobody = np.array([not ranks for ranks in holders.ranks], dtype=bool)
    unheld = np.flatnonzero(nobody[holders.group])
    passes = max(mine.passes for mine in cells.values())
    dtypes = sorted({str(mine.dtype) for mine in cells.values()})
    return Lifted(
        shard_map=ShardMap(name=name, logical_shape=logical_shape, ranks=shards),
        padding={rank: views for rank, views in padding.items() if views},
        unwritten={rank: count for rank, count in unwritten.items() if count},
        unheld=len(unheld),
        notes=tuple(_notes(cells, unheld)),
        probe=f"{', '.join(dtypes)}, {passes} digit pass{'' if passes == 1 else 'es'}",
    )


@dataclass(frozen=True, slots=True)
class _Holders:
    """Who holds each element: elements of one group are held by the same ranks.

    Attributes:
        group: of each element, (numel,).
        ranks: of each group, ascending.
    """

    group: Integers
    ranks: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, numel: int, cells: Mapping[int, Cells]) -> _Holders:
        group = np.zeros(numel, dtype=np.int64)
        ranks: list[tuple[int, ...]] = [()]
        for rank, mine in sorted(cells.items()):
            held = np.zeros(numel, dtype=np.int64)
            held[mine.source[mine.source >= 0]] = 1
            known, number = np.unique(2 * group + held, return_inverse=True)
            group = number.reshape(-1).astype(np.int64)
            ranks = [(*ranks[one // 2], rank) if one % 2 else ranks[one // 2] for one in known.tolist()]
        return cls(group, tuple(ranks))


def _shard(mine: Cells, logical_shape: tuple[int, ...], holders: _Holders) -> RankShard:
    """What one rank holds; pieces are cut where holders or factors change."""
    held = np.flatnonzero(mine.source >= 0)
    source = mine.source[held]
    factors, number = np.unique(mine.factor[held], return_inverse=True)
    labels = holders.group[source] * len(factors) + number.reshape(-1)
    scales = [exact_scale(factor) for factor in factors.tolist()]
    pieces = []
    for block in blocks_of(source, held, labels, logical_shape=logical_shape, shard_shape=mine.shape):
        group, factor = divmod(block.label, len(factors))
        pieces.append(Piece(block.source, block.dest, holders.ranks[group], scales[factor]))
    return RankShard(mine.shape, tuple(pieces))


def _padding(mine: Cells) -> tuple[StridedView, ...]:
    """The cells that hold a constant, as views."""
    cells = np.flatnonzero((mine.source < 0) & ~mine.unwritten)
    same = np.zeros_like(cells)
    blocks = blocks_of(cells, cells, same, logical_shape=mine.shape, shard_shape=mine.shape)
    return tuple([block.dest for block in blocks])


def _notes(cells: Mapping[int, Cells], unheld: Integers) -> Iterator[str]:
    for rank, mine in cells.items():
        padding = (mine.source < 0) & ~mine.unwritten
        if padding.any():
            constants = ", ".join(f"{value:g}" for value in np.unique(mine.constant[padding])[:4].tolist())
            yield f"rank {rank}: {int(padding.sum())} of {len(padding)} cells are constant: {constants}"
        if mine.unwritten.any():
            yield f"rank {rank}: {int(mine.unwritten.sum())} of {len(padding)} cells are never written"
    scales = {factor for mine in cells.values() for factor in np.unique(mine.factor).tolist()} - {0.0, 1.0}
    if scales:
        yield f"elements are multiplied by {', '.join(f'{scale:g}' for scale in sorted(scales)[:4])}"
    if len(unheld):
        yield f"{len(unheld)} elements are held by no rank, the first is {int(unheld[0])}"
