"""One run of everything: each family and each peer timed, the report as plain JSON values."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from tests.bench import cold, many_boxes
from tests.bench.families import Family, Sizes, families, growing_extents
from tests.bench.measure import Effort, Timing, time_in_child
from tests.bench.ours import CHECK, check
from tests.bench.peers import PEERS, Peer, preload
from tests.bench.targets import judged
from verifier.audit.check import tool_versions
from verifier.model.shard_map import ShardMap

SCHEMA = "shardproof.bench/1"

WALKABLE = 2**20
"""Most elements that a walk is asked to finish."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Attributes:
        sizes: of the families.
        effort: for each call.
        processes: cold starts of each kind.
        many: how many boxes of one parameter, ascending.
        families: names of those to measure, empty for all.
        peers: names of those to measure, empty for all.
    """

    sizes: Sizes = field(default_factory=Sizes)
    effort: Effort = field(default_factory=Effort)
    processes: int = 12
    many: tuple[int, ...] = many_boxes.SIZES
    families: frozenset[str] = frozenset()
    peers: frozenset[str] = frozenset()

    def wants(self, family: Family) -> bool:
        """Whether a family is measured."""
        return not self.families or family.name in self.families


def run(plan: Plan, say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """The whole report."""
    tool = tool_versions()
    versions = {tool["name"]: tool["version"], "python": tool["python"], **preload()}
    measured = []
    for family in families(plan.sizes):
        if plan.wants(family):
            say(family.title)
            measured.append(_family(family, plan))
    boxes = []
    for many in many_boxes.FAMILIES:
        if not plan.families or many.name in plan.families:
            say(f"many boxes: {many.title}")
            effort = replace(plan.effort, cap=max(plan.effort.cap, many_boxes.CAP))
            boxes.append(many_boxes.measure(many, plan.peers, plan.many, effort))
    say("growing extents")
    extents = _extents(plan)
    say("cold start")
    started = cold.measure(plan.processes)
    report = {
        "schema": SCHEMA,
        "versions": versions,
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "load_average": round(os.getloadavg()[0], 2),
            "million_dict_updates_seconds": _calibration(),
        },
        "effort": asdict(plan.effort),
        "peers": {peer.name: peer.checks for peer in PEERS},
        "families": measured,
        "box_peers": {peer.name: peer.checks for peer in many_boxes.BOX_PEERS},
        "many_boxes": boxes,
        "growing_extents": extents,
        "cold_start": started,
    }
    return {**report, "targets": judged(report)}


def _calibration() -> float:
    """A million updates of a dict: how fast this Python is just now, to compare runs by."""
    samples = []
    for _ in range(3):
        start = time.process_time()
        counts: dict[int, int] = {}
        for number in range(1_000_000):
            counts[number & 1023] = counts.get(number & 1023, 0) + 1
        samples.append(time.process_time() - start)
    return statistics.median(samples)


def _family(family: Family, plan: Plan) -> dict[str, Any]:
    maps = family.maps()
    peers = [
        peer
        for peer in PEERS
        if (not plan.peers or peer.name in plan.peers)
        and not (peer.parameter_only and family.same_parameter_side_as)
    ]
    return {
        "name": family.name,
        "title": family.title,
        "size": _size(maps),
        "same_parameter_side_as": family.same_parameter_side_as,
        "timings": [_timing(peer, family, maps, plan) for peer in peers],
    }


def _size(maps: Iterable[ShardMap]) -> dict[str, int]:
    maps = list(maps)
    return {
        "maps": len(maps),
        "pieces": sum(len(shard.pieces) for m in maps for shard in m.ranks.values()),
        "elements": sum(m.numel for m in maps),
    }


def _walked(maps: Iterable[ShardMap]) -> int:
    """Elements that a walk over all pieces visits."""
    return sum(piece.numel for m in maps for _, _, piece in m.pieces())


def _timing(peer: Peer, family: Family, maps: list[ShardMap], plan: Plan) -> dict[str, Any]:
    small = family.small() if family.small is not None and peer.walks and _walked(maps) > WALKABLE else None
    asked = maps if small is None else small
    timing = time_in_child(lambda: peer.prepare(asked), plan.effort)
    document = {"peer": peer.name, **asdict(timing), "extrapolated_from": None}
    if small is None or timing.status != "measured":
        return document
    return {**document, **_extrapolated(timing, _walked(small), _walked(maps))}


def _extrapolated(timing: Timing, small: int, large: int) -> dict[str, Any]:
    """A walk's time in proportion to the elements walked."""
    if timing.seconds is None or timing.least is None:
        raise ValueError("nothing was measured")
    factor = large / small
    return {
        "status": "extrapolated",
        "seconds": timing.seconds * factor,
        "least": timing.least * factor,
        "extrapolated_from": {"elements": small, "seconds": timing.seconds, "to_elements": large},
    }


def _extents(plan: Plan) -> list[dict[str, Any]]:
    measured = []
    for log2, shard_map in growing_extents():
        timing = time_in_child(partial(check, [shard_map]), plan.effort)
        measured.append({"log2_elements": log2, "peer": CHECK, **asdict(timing)})
    return measured


def progress(text: str) -> None:
    """What is being measured, on standard error."""
    print(text, file=sys.stderr, flush=True)
