"""Who is timed, and what each of them checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench import deepspeed, distributed, ours, solvers
from tests.bench.measure import Run
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Peer:
    """A way to check maps.

    Attributes:
        name: key of the report.
        checks: what it looks at.
        prepare: builds what it needs, untimed, and gives the call to time.
        walks: its cost is per element, so it may be extrapolated from a small size.
        parameter_only: it never sees shards.
    """

    name: str
    checks: str
    prepare: Callable[[Sequence[ShardMap]], Run]
    walks: bool = False
    parameter_only: bool = False


COVERAGE = "deepspeed validate_coverage"

_EVERYTHING = "bounds, both sides exactly once, holders, scales"
_ADDRESSES = "addresses of the parameter"
_BOXES = "boxes of the parameter"

PEERS = (
    Peer(ours.CHECK, f"{_EVERYTHING}; certificate made", ours.check),
    Peer(ours.CONFIRMED, f"{_EVERYTHING}; certificate made and checked", ours.confirmed_check),
    Peer(ours.CHECKER, f"{_EVERYTHING}; from the certificate's text", ours.certificate_check),
    Peer("deepspeed validate", "counts; bounds and overlap of dense dests", deepspeed.validate),
    Peer(
        COVERAGE, "and that every element is held, and its holders", deepspeed.validate_coverage, walks=True
    ),
    Peer("deepspeed plan_transfer", "boxes of both sides, holders; plans copies", deepspeed.plan_transfer),
    Peer("torch sharded tensor", _BOXES, distributed.sharded_tensor, parameter_only=True),
    Peer("torch save plan", _BOXES, distributed.save_plan, parameter_only=True),
    Peer("isl, boxes", _BOXES, solvers.isl_boxes, parameter_only=True),
    Peer("isl, flat union", _ADDRESSES, solvers.isl_flat, parameter_only=True),
    Peer("z3, quantified cover", _ADDRESSES, solvers.z3_cover, parameter_only=True),
    Peer("z3, pairs", f"{_ADDRESSES}, two pieces at a time", solvers.z3_pairs, parameter_only=True),
    Peer(
        "numpy, pairs",
        f"{_ADDRESSES}, two pieces at a time; not that a piece meets itself",
        solvers.numpy_pairs,
        parameter_only=True,
    ),
)


def preload() -> dict[str, str]:
    """Import every peer before anything is timed; their versions."""
    return {**deepspeed.preload(), **distributed.preload(), **solvers.preload()}
