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
from dataclasses import dataclass, replace

import numpy as np
import torch

from verifier.geometry.strided import StridedView
from verifier.model.numbers import require_ranks, require_shape
from verifier.model.piece import Piece, exact_scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.oracle.buffers import usable_device
from verifier.oracle.lift_asking import Asking, Attempt, Done, not_told
from verifier.oracle.lift_blocks import Integers, blocks_of, distinct
from verifier.oracle.lift_calls import Loading, Partition, loading_call, made_loading, partition_call
from verifier.oracle.lift_errors import (
    BadTargetError,
    CallFailedError,
    TooLargeError,
)
from verifier.oracle.lift_probe import Cells
from verifier.oracle.lifted import Lifted

MOST_ELEMENTS = 2**24
"""Of a parameter: some hundred bytes and microseconds each; a smaller one of its form shows as much."""
DTYPES = (torch.int64, torch.float64, torch.float32, torch.bfloat16)
"""What a partition function is given, until it accepts one."""


def lift(
    function: Partition,
    shape: Sequence[int],
    ranks: int | Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    device: str | torch.device = "cpu",
    name: str = "lifted",
    done: Done = not_told,
) -> Lifted:
    """The map of a partition function ``(tensor, rank, world) -> shard``.

    Args:
        function: called several times for each rank, with ``world`` the number of ranks.
        shape: of the tensor it is given.
        ranks: how many, counted from 0, or which.
        dtype: of the tensor; None tries integers first, then doubles, then fewer bits. What answers for
            integers is asked again in floating point, and has to do the same.
        device: where the tensor is made.
        name: of the map.
        done: called with how many more parts of the work are done, and how many more are known of.

    Raises:
        BadTargetError: shape or ranks are none.
        CallFailedError: it raises for each dtype.
        NotATensorError, NotDeterministicError, DataDependentError, NotAGatherError, TooCoarseError: it is no
            function that a map describes, or its result cannot show it.
        DtypeDependentError: it does something else in floating point.
        TooLargeError: tensor, shards or map are more than can be looked at, or the memory of the device.
        DeviceUnavailableError: the device does not exist.
    """
    logical_shape, labels = _shape(shape), _ranks(ranks)
    where = usable_device(device)

    def attempt(given: torch.dtype) -> Attempt:
        return lambda rank: partition_call(
            function, logical_shape, rank, len(labels), dtype=given, device=where
        )

    given = DTYPES if dtype is None else (dtype,)
    asking = Asking(labels, math.prod(logical_shape), done)
    with _memory():
        place, cells = asking.first_success([attempt(one) for one in given])
        lifted = _lifted(name, logical_shape, cells, given[place])
        if dtype is not None or given[place].is_floating_point:
            return lifted
        return _and_in(lifted, asking.confirmed(attempt, given[place], cells))


def lift_loader(
    loading: Callable[[int, int], Loading],
    ranks: int | Sequence[int],
    *,
    name: str = "lifted",
    done: Done = not_told,
) -> Lifted:
    """The map of a loader ``(parameter, loaded, shard_id) -> None``: ``weight_loader`` of serving engines.

    The parameter of the map is what the checkpoint holds: the parts, joined in their order.

    Args:
        loading: ``(rank, world) -> Loading``; called anew for each load, so that loaders may keep state.
        ranks: how many, counted from 0, or which.
        name: of the map.
        done: called with how many more parts of the work are done, and how many more are known of.

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
    attempts: list[Attempt] = [lambda rank: loading_call(loading, rank, len(labels))]
    with _memory():
        _, cells = Asking(labels, math.prod(logical_shape), done).first_success(attempts)
        return _lifted(name, logical_shape, cells, *{mine.dtype for mine in cells.values()})


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


def _and_in(lifted: Lifted, again: torch.dtype | CallFailedError) -> Lifted:
    """The map with what came of asking again in floating point."""
    if isinstance(again, CallFailedError):
        return replace(lifted, notes=(*lifted.notes, f"takes no floating point tensors: {again}"))
    return replace(
        lifted, dtypes=(*lifted.dtypes, str(again)), probe=f"{lifted.probe}; the same for a tensor of {again}"
    )


def _lifted(
    name: str, logical_shape: tuple[int, ...], cells: Mapping[int, Cells], *given: torch.dtype
) -> Lifted:
    holders = _Holders.of(math.prod(logical_shape), cells)
    shards = {rank: _shard(mine, logical_shape, holders) for rank, mine in cells.items()}
    padding = {rank: _padding(mine) for rank, mine in cells.items()}
    unwritten = {rank: int(mine.unwritten.sum()) for rank, mine in cells.items()}
    unheld = np.flatnonzero(holders.group == 0)  # nobody's, from which all others parted
    passes = max(mine.passes for mine in cells.values())
    dtypes = sorted({str(mine.dtype) for mine in cells.values()})
    return Lifted(
        shard_map=ShardMap(name=name, logical_shape=logical_shape, ranks=shards),
        padding={rank: views for rank, views in padding.items() if views},
        unwritten={rank: count for rank, count in unwritten.items() if count},
        unheld=len(unheld),
        notes=tuple(_notes(cells, unheld)),
        dtypes=tuple(sorted(map(str, given))),
        probe=f"{', '.join(dtypes)}, {passes} digit pass{'' if passes == 1 else 'es'}",
    )


@dataclass(frozen=True, slots=True)
class _Holders:
    """Who holds each element: elements of one group are held by the same ranks.

    Attributes:
        group: of each element, (numel,).
        ranks: of each group, ascending.
        size: of each group, 0 of those that fell apart.
    """

    group: Integers
    ranks: tuple[tuple[int, ...], ...]
    size: tuple[int, ...]

    @classmethod
    def of(cls, numel: int, cells: Mapping[int, Cells]) -> _Holders:
        group = np.zeros(numel, dtype=np.int64)
        ranks: list[tuple[int, ...]] = [()]
        size = [numel]
        for rank, mine in sorted(cells.items()):
            held = np.zeros(numel, dtype=bool)
            held[mine.source[mine.source >= 0]] = True
            elements = np.flatnonzero(held)
            before = group[elements]
            count = np.bincount(before, minlength=len(ranks))
            after = np.arange(len(ranks))
            for one in np.flatnonzero(count).tolist():  # those of a group that the rank holds part from it
                after[one] = len(ranks)
                ranks.append((*ranks[one], rank))
                size.append(int(count[one]))
                size[one] -= size[-1]
            group[elements] = after[before]
        return cls(group, tuple(ranks), tuple(size))


def _shard(mine: Cells, logical_shape: tuple[int, ...], holders: _Holders) -> RankShard:
    """What one rank holds; pieces are cut where holders or factors change."""
    held = np.flatnonzero(mine.source >= 0)
    source = mine.source[held]
    factors, number = distinct(mine.factor[held])
    labels = holders.group[source] * len(factors) + number
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
    scales = {factor for mine in cells.values() for factor in distinct(mine.factor)[0].tolist()} - {0.0, 1.0}
    if scales:
        yield f"elements are multiplied by {', '.join(f'{scale:g}' for scale in sorted(scales)[:4])}"
    if len(unheld):
        yield f"{len(unheld)} elements are held by no rank, the first is {int(unheld[0])}"
