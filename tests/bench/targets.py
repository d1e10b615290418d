"""What the project promises of its speed, and whether this run kept it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tests.bench.cold import AUDIT_PROVED, AUDIT_REFUTED
from tests.bench.many_boxes import DECIDE, PLAN, SHARDED, seconds_at
from tests.bench.ours import CHECK, CONFIRMED
from tests.bench.peers import COVERAGE

COVERAGE_RATIO = 10_000
LAYOUT_SECONDS = 0.005
EXTENTS_RATIO = 2.0
BOXES_SECONDS = 0.3
COLD_SECONDS = 0.35

MANY = 100_000
MICROSECONDS_A_BOX = 0.5
PLAN_RATIOS = {
    "many_grid_2d": 50,
    "many_guillotine_2d": 50,
    "many_grid_3d": 200,
    "many_guillotine_3d": 200,
}
"""How many times longer torch's check of a plan takes, at least."""
BEST_RATIO = 2.0
GROWTH = 2.0

BOX_FAMILIES = tuple(
    f"{tiling}_{ranks}"
    for tiling in ("rows", "grid", "guillotine_2d", "guillotine_3d")
    for ranks in ("rank_per_box", "8_ranks")
)


def judged(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target with what was measured; targets about families that were not measured are left out."""
    return [
        *_coverage(report),
        *_layouts(report),
        *_extents(report),
        *_boxes(report),
        *targets_of_boxes(report["many_boxes"]),
        *_cold(report),
    ]


def seconds_of(report: dict[str, Any], family: str, peer: str) -> float | None:
    """The median of one peer on one family, None where there is none."""
    for measured in report["families"]:
        if measured["name"] == family:
            for timing in measured["timings"]:
                if timing["peer"] == peer and timing["status"] in ("measured", "extrapolated"):
                    return float(timing["seconds"])
    return None


def _target(text: str, measured: float, unit: str, *, met: bool, note: str = "") -> dict[str, Any]:
    return {"target": text, "measured": measured, "unit": unit, "met": met, "note": note}


def _coverage(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    walk, own = seconds_of(report, "columns", COVERAGE), seconds_of(report, "columns", CHECK)
    if walk is not None and own is not None:
        text = f"columns: {CHECK} at least {COVERAGE_RATIO:,} times faster than {COVERAGE}"
        note = "the walk is extrapolated, see the family"
        yield _target(text, walk / own, "times", met=walk / own >= COVERAGE_RATIO, note=note)


def _below(report: dict[str, Any], family: str, limit: float) -> Iterator[dict[str, Any]]:
    own, confirmed = seconds_of(report, family, CHECK), seconds_of(report, family, CONFIRMED)
    if own is not None:
        note = "" if confirmed is None else f"{confirmed:.4g} s with the checker's consent"
        yield _target(f"{family}: below {limit:g} s", own, "s", met=own < limit, note=note)


def _layouts(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for family in ("tall_columns", "fused_qkv"):
        yield from _below(report, family, LAYOUT_SECONDS)


def _boxes(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for family in BOX_FAMILIES:
        yield from _below(report, family, BOXES_SECONDS)


def _extents(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    times = [timing["seconds"] for timing in report["growing_extents"]]
    ratio = max(times) / min(times)
    text = f"extents from 2^10 to 2^60 change the time by less than {EXTENTS_RATIO:g} times"
    yield _target(text, ratio, "times", met=ratio < EXTENTS_RATIO)


def targets_of_boxes(families: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What is promised of very many boxes of one parameter."""
    for family in families:
        name, own = family["name"], seconds_at(family, DECIDE, MANY)
        if own is None:
            continue
        boxes = next(t["boxes"] for t in family["timings"] if t["asked"] == MANY)
        text = f"{name}: at most {MICROSECONDS_A_BOX:g} us for each of {boxes:,} boxes, columns in memory"
        each = own[0] / boxes
        yield _target(text, each, "s", met=each <= MICROSECONDS_A_BOX * 1e-6)
        yield from _torch_ratios(family, own[0])
        yield from _growth(family)


def _torch_ratios(family: dict[str, Any], own: float) -> Iterator[dict[str, Any]]:
    name = family["name"]
    plan, sharded = (seconds_at(family, peer, MANY) for peer in (PLAN, SHARDED))
    if plan is not None and name in PLAN_RATIOS:
        text = f"{name}: at least {PLAN_RATIOS[name]} times faster than {PLAN}"
        note = "" if plan[1] else f"at least: {PLAN} did not finish"
        yield _target(text, plan[0] / own, "times", met=plan[0] / own >= PLAN_RATIOS[name], note=note)
    if plan is not None and sharded is not None:
        best = min(plan, sharded)
        text = f"{name}: at most {BEST_RATIO:g} times as long as the quicker check of torch"
        note = "" if best[1] else "at most: neither finished"
        yield _target(text, own / best[0], "times", met=own <= BEST_RATIO * best[0], note=note)


def _growth(family: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """From a hundredth of the largest size on, for below there are fixed costs."""
    measured = [t for t in family["timings"] if t["peer"] == DECIDE and t["status"] == "measured"]
    large = max(measured, key=lambda t: t["boxes"])
    small = [t for t in measured if t["asked"] * 100 == large["asked"]]
    if small:
        loads = [t["boxes"] * math.log2(t["boxes"]) for t in (large, small[0])]
        ratio = large["seconds"] / small[0]["seconds"] / (loads[0] / loads[1])
        text = (
            f"{family['name']}: from {small[0]['boxes']:,} to {large['boxes']:,} boxes the time grows by"
            f" at most {GROWTH:g} times what n log n does"
        )
        yield _target(text, ratio, "times", met=ratio <= GROWTH)


def _cold(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in (AUDIT_PROVED, AUDIT_REFUTED):
        seconds = report["cold_start"]["seconds"][name]
        yield _target(
            f"{name}: below {COLD_SECONDS:g} s of wall clock from a cold start",
            seconds["wall_median"],
            "s",
            met=seconds["wall_median"] < COLD_SECONDS,
            note=f"quickest {seconds['wall_least']:.3g} s; processor time {seconds['cpu_median']:.3g} s",
        )
