"""Layouts that say block by block who holds what: gathered blocks and mixtures of experts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from verifier.layouts.blocks import Blocks, along, pack, uncut
from verifier.layouts.errors import BadLayout
from verifier.layouts.sizes import (
    MOST_PARTS,
    Size,
    require_axis,
    require_count,
    require_sequence,
    require_shape,
    require_size,
    require_sizes,
    require_sum,
)
from verifier.model.numbers import RANK_LIMIT
from verifier.model.shard_map import ShardMap


def block_gather(
    shape: Sequence[Size], ids_by_rank: Mapping[int, Sequence[int]], block: Size, axis: int = 0
) -> ShardMap:
    """One axis is a row of equal blocks; each rank holds the blocks that it lists, in the order of its list.

    Args:
        shape: of the parameter.
        ids_by_rank: for each rank the numbers of its blocks, counted from 0; a rank may list none, and
            several ranks may list the same one.
        block: elements of a block along the axis.
        axis: the one of the blocks; -1 is the last.

    Raises:
        BadLayout: no rank; a block that nobody lists, or a rank twice; the blocks do not fill the axis; a
            rank, a block number or a size is no such number.
    """
    require_shape("shape", shape)
    at = require_axis("axis", axis, len(shape))
    require_size("block", block, least=1)
    if not isinstance(ids_by_rank, Mapping):
        raise BadLayout("ids_by_rank", f"is a {type(ids_by_rank).__name__}; give a dict of ranks")
    require_count("len(ids_by_rank)", len(ids_by_rank))
    for rank in ids_by_rank:
        require_count("a rank in ids_by_rank", rank, least=0, most=RANK_LIMIT - 1)
    listed = {rank: _ids(f"ids_by_rank[{rank}]", ids) for rank, ids in ids_by_rank.items()}
    blocks = _covered("ids_by_rank", listed.values())
    require_sum("ids_by_rank", blocks * block, shape[at], f"axis {axis} of shape")
    return pack(along(shape, at, Blocks((block,) * blocks, listed)))


def experts(
    number: int,
    expert_shape: Sequence[Size],
    placement: Sequence[Sequence[int]],
    tensor_axis: int = 0,
    tensor_widths: Sequence[Size] | None = None,
) -> ShardMap:
    """The weights of all experts of a layer in one parameter, (number, *expert_shape).

    Experts may be anywhere, in any order: uneven, scattered, on several positions, none at all on some. Where
    ``tensor_widths`` are given, each expert is cut along one of its axes as well.

    Args:
        number: of experts.
        expert_shape: of the weight of one of them.
        placement: for each position of the expert-parallel group its experts, in the order of its shard.
        tensor_axis: the axis of ``expert_shape`` that is cut; -1 is its last.
        tensor_widths: the widths of its parts, one for each rank of a tensor-parallel group of T ranks. The
            T ranks of position p are p * T to p * T + T - 1. None: each position is one rank.

    Raises:
        BadLayout: no position; an expert that nobody holds, or a position twice; one past the last; widths
            that do not add up to the axis; a count or a size is no such number.
    """
    require_count("number", number)
    require_shape("expert_shape", expert_shape)
    positions = require_sequence("placement", placement)
    require_count("len(placement)", len(positions))
    listed = [_ids(f"placement[{position}]", ids, number) for position, ids in enumerate(positions)]
    _covered("placement", listed, number)
    if expert_shape or tensor_widths is not None:
        at = require_axis("tensor_axis", tensor_axis, len(expert_shape))
    if tensor_widths is None:
        return pack(along([number, *expert_shape], 0, Blocks((1,) * number, dict(enumerate(listed)))))
    require_sizes("tensor_widths", tensor_widths)
    require_count("len(tensor_widths)", len(tensor_widths))
    require_sum("tensor_widths", sum(tensor_widths), expert_shape[at], f"axis {tensor_axis} of expert_shape")
    degree = len(tensor_widths)
    ranks = range(len(listed) * degree)
    require_count("ranks", len(ranks))
    axes = [uncut(size, ranks) for size in expert_shape]
    axes[at] = Blocks(tuple(tensor_widths), {rank: (rank % degree,) for rank in ranks})
    return pack([Blocks((1,) * number, {rank: listed[rank // degree] for rank in ranks}), *axes])


def _ids(argument: str, ids: object, number: int = MOST_PARTS) -> tuple[int, ...]:
    """The distinct block numbers of a list, all below ``number``."""
    found: dict[int, None] = {}
    for place, listed in enumerate(require_sequence(argument, ids)):
        one = require_count(f"{argument}[{place}]", listed, least=0, most=number - 1)
        if one in found:
            raise BadLayout(argument, f"lists {one} twice; a rank holds a block once")
        found[one] = None
    return tuple(found)


def _covered(argument: str, listed: Iterable[tuple[int, ...]], number: int | None = None) -> int:
    """How many blocks there are; refuse when nobody lists one of them."""
    everything = {one for ids in listed for one in ids}
    blocks = 1 + max(everything, default=-1) if number is None else number
    if len(everything) < blocks:
        missing = next(one for one in range(blocks) if one not in everything)
        raise BadLayout(argument, f"lists {missing} nowhere; somebody has to hold it")
    return blocks
