"""What becomes of one state field under a cut of its parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from verifier.model.shard_map import ShardMap

InducedKind = Literal[
    "same", "replicated", "dropped", "block_aligned", "needs_reduction", "owner", "impossible", "unknown"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Induced:
    """The cut of one field.

    Attributes:
        kind: same: cut like the parameter; replicated: whole on every member; dropped: cut like the parameter
            without the axis it reduces; block_aligned: every block is whole on one member; needs_reduction:
            the members that share an element compute it together, as declared; owner: whole with the owner;
            impossible: no cut of the field follows; unknown: no rule is known for such a cut.
        rule: the M rule behind needs_reduction (M2) and impossible; empty otherwise.
        reason: why, with numbers; empty where nothing needs explaining.
        shard_map: the cut of the field, None where it is impossible. Ranks are positions in the group.
    """

    kind: InducedKind
    rule: str = ""
    reason: str = ""
    shard_map: ShardMap | None = None


def impossible(rule: str, reason: str) -> Induced:
    """A field whose cut does not follow."""
    return Induced(kind="impossible", rule=rule, reason=reason)
