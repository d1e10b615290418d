"""Who is timed, and what each of them checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench import deepspeed, distributed, ours, solvers
from tests.bench.measure import Run
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True, slots=True)
class Peer:
    """A way to check maps. ``prepare`` builds what it needs, untimed, and gives the call to time.

    ``walks`` is true where the cost is per element, so that it may be extrapolated from a small size.
    """

    name: str
    checks: str
    prepare: Callable[[Sequence[ShardMap]], Run]
    walks: bool = False


COVERAGE = "deepspeed validate_coverage"

PEERS = (
    Peer(
        ours.CHECK,
        "everything: bounds, both sides exactly once, holders, scales; certificate made and checked",
        ours.whole_check,
    ),
    Peer(ours.VERDICT, "everything; certificate made, not checked", ours.verdict_only),
    Peer(ours.CHECKER, "everything, from the certificate's text", ours.certificate_check),
    Peer("deepspeed validate", "counts; bounds and overlap of dense dests", deepspeed.validate),
    Peer(
        COVERAGE,
        "and that every element is held, and its holders; by walking",
        deepspeed.validate_coverage,
        walks=True,
    ),
    Peer(
        "deepspeed plan_transfer", "boxes of both sides, holders; and plans copies", deepspeed.plan_transfer
    ),
    Peer("torch sharded tensor", "boxes of the parameter", distributed.sharded_tensor),
    Peer("torch save plan", "boxes of the parameter", distributed.save_plan),
    Peer("isl, boxes", "boxes of the parameter", solvers.isl_boxes),
    Peer("isl, flat union", "addresses of the parameter", solvers.isl_flat),
    Peer("z3, quantified cover", "addresses of the parameter", solvers.z3_cover),
    Peer("z3, pairs", "addresses of the parameter, two pieces at a time", solvers.z3_pairs),
    Peer(
        "numpy, pairs",
        "addresses of the parameter, two pieces at a time; not that a piece meets itself",
        solvers.numpy_pairs,
    ),
)


def preload() -> dict[str, str]:
    """Import every peer before anything is timed; their versions."""
    return {**deepspeed.preload(), **distributed.preload(), **solvers.preload()}
