"""Cutting a tensor into shards and rebuilding it, the way a consumer of maps does it.

Ranks in ascending order, pieces in list order, one ``copy_`` each; what is copied later overwrites what
was copied earlier. Pieces without elements are passed over: they touch nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from verifier.model.piece import ONE, Piece, Scale
from verifier.model.shard_map import ShardMap
from verifier.oracle.buffers import Poison, exact_copy, poisoned, strided, to_words, usable_device
from verifier.oracle.errors import RefusedError
from verifier.oracle.outcome import Drift


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A parameter put together from shards, and the replicas that disagreed on the way."""

    full: torch.Tensor
    drift: Drift | None


@contextmanager
def refusals(rank: int, piece: int) -> Iterator[None]:
    """Turns what torch raises about a piece into RefusedError; running out of memory is not about the piece.

    Torch speaks of an address beyond 64 bits as TypeError, ValueError or RuntimeError, by argument.
    """
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        raise RefusedError(rank, piece, str(error)) from error


def extract(
    full: torch.Tensor,
    shard_map: ShardMap,
    rank: int,
    *,
    device: str | torch.device = "cpu",
    poison: Poison = Poison.ONES,
) -> torch.Tensor:
    """The shard of ``rank``: every piece of ``full`` times its scale, in memory that was poison before.

    Args:
        full: the parameter, ``logical_shape`` of any dtype.
        shard_map: how it is cut.
        rank: one of the ranks of the map.
        device: where to cut.
        poison: the bits of cells that no piece writes.

    Returns:
        ``shard_shape``, the dtype of ``full``.

    Raises:
        ValueError: ``full`` has another shape, the map has no such rank, or a scale meets integers.
        RefusedError: torch refuses a piece.
    """
    if tuple(full.shape) != shard_map.logical_shape:
        raise ValueError(
            f"a tensor of shape {tuple(full.shape)}, but the map is about {shard_map.logical_shape}"
        )
    if rank not in shard_map.ranks:
        raise ValueError(f"the map has no rank {rank}; it has {sorted(shard_map.ranks)}")
    _require_scalable(full.dtype, shard_map)
    where = usable_device(device)
    held = shard_map.ranks[rank]
    source = exact_copy(full, where)
    shard = poisoned(held.numel, full.dtype, where, poison)
    for position, piece in _pieces(shard_map, rank):
        with refusals(rank, position):
            block = _times(strided(source, piece.source), piece.scale)
            strided(shard, piece.dest).copy_(block)
    return shard.view(held.shard_shape)


def rebuild(
    shards: Mapping[int, torch.Tensor],
    shard_map: ShardMap,
    *,
    device: str | torch.device = "cpu",
    poison: Poison = Poison.ONES,
) -> Rebuilt:
    """The parameter that the shards add up to: every piece of every shard divided by its scale.

    Where an element is declared to have several holders (by the piece at hand or by one before it), what
    arrives is first compared, bit by bit, with what stands there.

    Args:
        shards: by rank, any shape; their flat elements are what ``dest`` addresses. At least one.
        shard_map: how they were cut.
        device: where to rebuild.
        poison: the bits of elements that no piece brings.

    Raises:
        ValueError: there are no shards, their dtypes differ, or a scale meets integers.
        RefusedError: torch refuses a piece, or a rank that holds something has no shard.
    """
    dtypes = {shard.dtype for shard in shards.values()}
    if len(dtypes) != 1:
        raise ValueError(f"shards of one dtype are needed, not {sorted(map(str, dtypes)) or 'none'}")
    (dtype,) = dtypes
    _require_scalable(dtype, shard_map)
    where = usable_device(device)
    site = _Site.fresh(poisoned(shard_map.numel, dtype, where, poison))
    for rank in shard_map.ranks:
        pieces = _pieces(shard_map, rank)
        if pieces and rank not in shards:
            raise RefusedError(rank, None, "there is no shard of this rank")
        buffer = exact_copy(shards[rank], where) if pieces else None
        for position, piece in pieces:
            if buffer is None:
                break
            with refusals(rank, position):
                site.receive(rank, piece, _divided(strided(buffer, piece.dest), piece.scale))
    return Rebuilt(site.full.view(shard_map.logical_shape), site.drift)


@dataclass(slots=True)
class _Site:
    """A parameter under construction: flat values, who wrote each last, which are declared replicated."""

    full: torch.Tensor
    addresses: torch.Tensor
    writer: torch.Tensor
    replicated: torch.Tensor
    any_replicated: bool = False
    drift: Drift | None = None

    @classmethod
    def fresh(cls, full: torch.Tensor) -> _Site:
        numel, where = full.numel(), full.device
        return cls(
            full,
            torch.arange(numel, device=where),
            torch.full((numel,), -1, dtype=torch.int64, device=where),
            torch.zeros(numel, dtype=torch.bool, device=where),
        )

    def receive(self, rank: int, piece: Piece, block: torch.Tensor) -> None:
        standing = strided(self.full, piece.source)
        declared = len(piece.locations) > 1
        self.any_replicated |= declared
        if self.any_replicated and self.drift is None:
            self._compare(rank, piece, standing, block, declared)
        standing.copy_(block)
        strided(self.writer, piece.source).fill_(rank)
        if declared:
            strided(self.replicated, piece.source).fill_(True)

    def _compare(
        self, rank: int, piece: Piece, standing: torch.Tensor, block: torch.Tensor, declared: bool
    ) -> None:
        writer = strided(self.writer, piece.source).reshape(-1)
        promised = writer >= 0
        if not declared:
            promised &= strided(self.replicated, piece.source).reshape(-1)
        differs = promised & (to_words(standing) != to_words(block)).any(dim=1)
        if not bool(differs.any()):
            return
        addresses = strided(self.addresses, piece.source).reshape(-1)[differs]
        least = int(addresses.argmin())
        self.drift = Drift(int(addresses[least]), int(writer[differs][least]), rank)


def _pieces(shard_map: ShardMap, rank: int) -> list[tuple[int, Piece]]:
    """The pieces that carry anything, with their positions. Torch refuses some empty views."""
    return [(p, piece) for p, piece in enumerate(shard_map.ranks[rank].pieces) if not piece.is_empty]


def _require_scalable(dtype: torch.dtype, shard_map: ShardMap) -> None:
    """Integers times a scale are no longer the integers of anybody."""
    if dtype.is_floating_point or dtype.is_complex:
        return
    for rank, position, piece in shard_map.pieces():
        if piece.scale != ONE:
            raise ValueError(
                f"rank {rank}, piece {position} has scale {piece.scale}, which {dtype} cannot carry"
            )


def _times(block: torch.Tensor, scale: Scale) -> torch.Tensor:
    return block if scale == ONE else block * _factor(scale, block)


def _divided(block: torch.Tensor, scale: Scale) -> torch.Tensor:
    return block if scale == ONE else block / _factor(scale, block)


def _factor(scale: Scale, block: torch.Tensor) -> torch.Tensor:
    """The scale as a tensor beside the block.

    Dividing by a plain number is, on CUDA, a product with its rounded reciprocal: it undoes nothing exactly.
    """
    return torch.tensor(float(scale), dtype=block.dtype, device=block.device)
