"""How one parameter is cut, as a contract's case states it: identities, not addresses.

Unlike a ``ShardMap`` it names members of a group and knows one interval, or one dimension, for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from verifier.contracts.document import Layout

PlacementKind = Literal["replicate", "flat_shard", "dimension_shard", "whole_owner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What one axis of a mesh does with the parameter, as one member sees it.

    Attributes:
        axis: name of the mesh axis.
        kind: what the axis does.
        coordinate: of the member along the axis.
        parts: members along the axis.
        dim: the dimension that is cut, of a dimension_shard only.
    """

    axis: str
    kind: PlacementKind
    coordinate: int
    parts: int
    dim: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberShard:
    """What one member holds: the interval (offset, length) of the flat parameter, or a box for dim_shard.

    ``offsets`` and ``lengths`` have one entry for a flat interval, one for each dimension for a box; a vector
    has one dimension, so ``is_box`` says which it is. ``placements`` is None where none are stated.
    """

    member: str
    offsets: tuple[int, ...]
    lengths: tuple[int, ...]
    owner: str | None = None
    is_box: bool = False
    placements: tuple[Placement, ...] | None = None

    @property
    def numel(self) -> int:
        """Elements held."""
        return math.prod(self.lengths)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCut:
    """One parameter over the members of a group.

    Attributes:
        fqn: name of the parameter.
        shape: its shape, elements.
        layout: the kind of cut.
        group: name of the group; None for an ungrouped parameter.
        members: of the group, in its order.
        shards: one for each member.
        dim: the dimension that is cut, for dim_shard; None where its mesh replicates the parameter.
        padding: elements of the flat buffer behind the parameter, which are no elements of it.
    """

    fqn: str
    shape: tuple[int, ...]
    layout: Layout
    group: str | None
    members: tuple[str, ...]
    shards: tuple[MemberShard, ...]
    dim: int | None = None
    padding: int = 0

    @property
    def numel(self) -> int:
        """Elements of the parameter."""
        return math.prod(self.shape)

    @property
    def spread(self) -> Layout:
        """What the layout comes to: a mesh that replicates the parameter replicates it."""
        return "replicated" if self.layout == "dim_shard" and self.dim is None else self.layout
