"""Attention projections cut by whole heads; where ranks outnumber heads, several ranks hold one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from verifier.layouts.blocks import Blocks, along, pack
from verifier.layouts.errors import BadLayout
from verifier.layouts.rules import floor_first
from verifier.layouts.sizes import Size, require_count, require_multiple, require_size
from verifier.model.shard_map import ShardMap

Order = Literal["concatenated", "grouped"]


def attention_heads(heads: int, head_dim: Size, hidden: Size | None, ranks: int) -> ShardMap:
    """One projection of attention, (heads * head_dim, hidden), cut by heads.

    With at least as many heads as ranks each rank holds some, the first ranks one more where they do not
    divide (``floor_first``, as DeepSpeed does). With fewer, each head is held by ranks / heads consecutive
    ranks, as vLLM and Megatron do for keys and values.

    Args:
        heads: how many.
        head_dim: rows of a head.
        hidden: columns; None for a bias.
        ranks: how many; they are numbered from 0.

    Raises:
        BadLayout: fewer heads than ranks that do not divide them, or a size or a count is no such number.
    """
    _require(head_dim, hidden)
    require_count("heads", heads)
    groups = _groups("heads", heads, ranks)
    widths = [head_dim * held for held in groups.each]
    rows = Blocks(tuple(widths), {rank: (groups.of_rank(rank),) for rank in range(ranks)})
    return pack(along(_shape(rows.size, hidden), 0, rows))


def qkv(
    heads: Size,
    kv_heads: int,
    head_dim: Size,
    hidden: Size | None,
    ranks: int,
    order: Order = "concatenated",
) -> ShardMap:
    """Query, key and value projection in one weight, ((heads + 2 * kv_heads) * head_dim, hidden).

    A group is one head of keys and values and the heads / kv_heads query heads that read it. With at least as
    many groups as ranks each rank holds whole groups, the first ranks one more where they do not divide.
    With fewer, the query heads are dealt out evenly, and each head of keys and values is held by the
    ranks / kv_heads ranks whose query heads read it.

    Args:
        heads: of queries; a multiple of ``kv_heads``.
        kv_heads: of keys, and of values. As many as ``heads``: plain attention; one: multi-query attention.
        head_dim: rows of a head.
        hidden: columns; None for a bias.
        ranks: how many; they are numbered from 0.
        order: ``concatenated`` has all queries, then all keys, then all values, as Phi-3 and vLLM have it;
            ``grouped`` has the queries, the key and the value of each group together, as Megatron, Falcon and
            GPT-NeoX have it. A shard is in the order of the weight.

    Raises:
        BadLayout: ``heads`` is no multiple of ``kv_heads``, or, with fewer groups than ranks, of ``ranks``,
            or then ``ranks`` no multiple of ``kv_heads``; no such order; a size or a count is no such number.
    """
    _require(head_dim, hidden)
    require_size("heads", heads)
    require_count("kv_heads", kv_heads)
    groups = _groups("kv_heads", kv_heads, ranks)
    if order not in ("concatenated", "grouped"):
        raise BadLayout("order", f"is {order!r}; give concatenated or grouped")
    require_multiple("heads", heads, kv_heads, "kv_heads")
    if groups.replicas > 1:
        require_multiple("heads", heads, ranks, "ranks")
        queries = [heads // ranks * head_dim] * ranks
    else:
        queries = [heads // kv_heads * head_dim * held for held in groups.each]
    keys = [head_dim * held for held in groups.each]
    rows = (
        _concatenated(queries, keys, groups) if order == "concatenated" else _grouped(queries, keys, groups)
    )
    return pack(along(_shape(rows.size, hidden), 0, rows))


@dataclass(frozen=True, slots=True)
class _Groups:
    """Which ranks hold which groups of heads.

    Attributes:
        each: how many heads each group has, one group for each rank or for ``replicas`` consecutive ranks.
        replicas: ranks that hold the same group.
    """

    each: tuple[int, ...]
    replicas: int

    def of_rank(self, rank: int) -> int:
        """The group a rank holds."""
        return rank // self.replicas


def _groups(argument: str, heads: int, ranks: int) -> _Groups:
    require_count("ranks", ranks)
    if heads >= ranks:
        return _Groups(floor_first(heads, ranks), 1)
    if ranks % heads:
        raise BadLayout(argument, f"is {heads}, less than the {ranks} ranks and no divisor of them")
    return _Groups((1,) * heads, ranks // heads)


def _concatenated(queries: Sequence[Size], keys: Sequence[Size], groups: _Groups) -> Blocks:
    """All queries, a block for each rank, then a block for each group of keys, then of values."""
    held = {}
    for rank in range(len(queries)):
        key = len(queries) + groups.of_rank(rank)
        held[rank] = (rank, key, key + len(keys))
    return Blocks((*queries, *keys, *keys), held)


def _grouped(queries: Sequence[Size], keys: Sequence[Size], groups: _Groups) -> Blocks:
    """For each group the queries, a block for each rank that holds it, then the key, then the value.

    A rank with several whole groups holds them as one block: they follow each other in the weight.
    """
    if groups.replicas == 1:
        each = zip(queries, keys, strict=True)
        return Blocks(tuple(q + k + k for q, k in each), {rank: (rank,) for rank in range(len(queries))})
    widths: list[Size] = []
    held = {}
    for group, key in enumerate(keys):
        first = group * groups.replicas
        at = len(widths)
        for rank in range(first, first + groups.replicas):
            held[rank] = (at + rank - first, at + groups.replicas, at + groups.replicas + 1)
        widths += [*queries[first : first + groups.replicas], key, key]
    return Blocks(tuple(widths), held)


def _require(head_dim: Size, hidden: Size | None) -> None:
    require_size("head_dim", head_dim)
    if hidden is not None:
        require_size("hidden", hidden)


def _shape(rows: Size, hidden: Size | None) -> list[Size]:
    return [rows] if hidden is None else [rows, hidden]
