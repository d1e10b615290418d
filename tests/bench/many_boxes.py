"""Very many boxes of one parameter: the engine for columns beside torch and isl, and how time grows."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from typing import Any

from tests.bench.distributed import Tensor, check_plan, check_sharded
from tests.bench.maps import grid_boxes, guillotine_boxes
from tests.bench.measure import Effort, Run, time_in_child
from tests.bench.solvers import isl_cover
from verifier.budget import Budget
from verifier.certificates.check_boxes import check_tiled
from verifier.model.box_map import BoxMap

DECIDE = "shardproof, columns"
FROM_OBJECTS = "shardproof, columns made of lists first"
CONFIRM = "box certificate checker"
PLAN = "torch save plan"
SHARDED = "torch sharded tensor"
ISL = "isl, boxes"

CAP = 40.0
"""Processor seconds of one call here, for torch needs many."""

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SEED = 20240229


@dataclass(frozen=True, slots=True)
class ManyBoxes:
    """Right boxes of one parameter, about as many as asked for.

    Attributes:
        name: key of the report.
        title: what it is, for people.
        make: the shape and the boxes.
        size: the one number of boxes there is; None where there is any.
    """

    name: str
    title: str
    make: Callable[[int], Tensor]
    size: int | None = None


def _rows(count: int) -> Tensor:
    return (count, 4096), grid_boxes((count, 4096), (count, 1))


def _columns(count: int) -> Tensor:
    shape = (10 * count, count)
    return shape, grid_boxes(shape, (1, count))


def _grid(axes: int) -> Callable[[int], Tensor]:
    def make(count: int) -> Tensor:
        side = round(count ** (1 / axes))
        shape = (8 * side,) * axes
        return shape, grid_boxes(shape, (side,) * axes)

    return make


def _guillotine(axes: int) -> Callable[[int], Tensor]:
    def make(count: int) -> Tensor:
        shape = (20 * round(count ** (1 / axes)),) * axes
        return shape, guillotine_boxes(random.Random(SEED), shape, count)

    return make


def _experts(count: int) -> Tensor:
    shape = (256, 2048, 7168)
    return shape, grid_boxes(shape, (256, count // 256, 1))


FAMILIES = (
    ManyBoxes("many_rows", "rows", _rows),
    ManyBoxes("many_columns", "columns of a matrix with ten times as many rows", _columns),
    ManyBoxes("many_grid_2d", "a 2-D grid", _grid(2)),
    ManyBoxes("many_grid_3d", "a 3-D grid", _grid(3)),
    ManyBoxes("many_guillotine_2d", "random 2-D cuts", _guillotine(2)),
    ManyBoxes("many_guillotine_3d", "random 3-D cuts", _guillotine(3)),
    ManyBoxes("many_experts", "experts [256, 2048, 7168] at EP 256 x FSDP 16", _experts, size=4096),
)


@dataclass(frozen=True, slots=True)
class BoxPeer:
    """A way to check boxes: ``prepare`` builds what it needs, untimed; it is asked up to ``most`` boxes."""

    name: str
    checks: str
    prepare: Callable[[BoxMap], Run]
    most: int


def _tensor(boxes: BoxMap) -> Tensor:
    return boxes.logical_shape, [boxes.box(k) for k in range(boxes.count)]


def _decide(boxes: BoxMap) -> Run:
    from verifier.engines.bulk import Tiled, decide_boxes

    budget = Budget()
    return lambda: isinstance(decide_boxes(boxes, budget), Tiled)


def _decide_lists(boxes: BoxMap) -> Run:
    from verifier.engines.bulk import Tiled, decide_boxes

    shape, stored = boxes.logical_shape, [(list(low), list(extents)) for low, extents in _tensor(boxes)[1]]
    budget = Budget()
    return lambda: isinstance(decide_boxes(columns_of(shape, stored), budget), Tiled)


def _confirm(boxes: BoxMap) -> Run:
    def run() -> bool:
        check_tiled(boxes.logical_shape, boxes.count, boxes.offsets, boxes.sizes)
        return True

    return run


BOX_PEERS = (
    BoxPeer(DECIDE, "bounds, each element in exactly one box; certificate made", _decide, 1_000_000),
    BoxPeer(FROM_OBJECTS, "the same, with the columns made of one list a box", _decide_lists, 100_000),
    BoxPeer(CONFIRM, "bounds, each element in exactly one box; plain Python", _confirm, 1_000_000),
    BoxPeer(PLAN, "bounds, overlaps, volume", lambda boxes: check_plan([_tensor(boxes)]), 100_000),
    BoxPeer(SHARDED, "overlaps, volume", lambda boxes: check_sharded([_tensor(boxes)]), 100_000),
    BoxPeer(ISL, "union of boxes, volume", lambda boxes: isl_cover([_tensor(boxes)]), 100_000),
)


def columns_of(shape: Sequence[int], boxes: Sequence[tuple[Sequence[int], Sequence[int]]]) -> BoxMap:
    """Boxes in columns."""
    return BoxMap(
        name="weight",
        logical_shape=tuple(shape),
        offsets=array("q", chain.from_iterable([low for low, _ in boxes])),
        sizes=array("q", chain.from_iterable([extents for _, extents in boxes])),
        count=len(boxes),
    )


def measure(family: ManyBoxes, peers: frozenset[str], sizes: Sequence[int], effort: Effort) -> dict[str, Any]:
    """One family at growing sizes, by the peers named, by all if none is; each until it does not finish."""
    asked = [peer for peer in BOX_PEERS if not peers or peer.name in peers]
    timings: list[dict[str, Any]] = []
    for size in sizes if family.size is None else (family.size,):
        boxes = columns_of(*family.make(size))
        for peer in [peer for peer in asked if size <= peer.most]:
            timing = time_in_child(partial(peer.prepare, boxes), effort)
            timings.append({"peer": peer.name, "asked": size, "boxes": boxes.count, **asdict(timing)})
            if timing.status == "capped":
                asked.remove(peer)
    return {"name": family.name, "title": family.title, "timings": timings}


def seconds_at(family: dict[str, Any], peer: str, asked: int) -> tuple[float, bool] | None:
    """Median of a peer at a size, and whether it is one; False for a limit it met there or before."""
    for timing in family["timings"]:
        if timing["peer"] == peer:
            if timing["status"] == "measured" and timing["asked"] == asked:
                return float(timing["seconds"]), True
            if timing["status"] == "capped" and timing["asked"] <= asked:
                return float(timing["seconds"]), False
    return None
