"""What the project promises of its speed, and whether this run kept it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.bench.cold import AUDIT_PROVED, AUDIT_REFUTED
from tests.bench.ours import CHECK, CONFIRMED
from tests.bench.peers import COVERAGE

COVERAGE_RATIO = 10_000
LAYOUT_SECONDS = 0.005
EXTENTS_RATIO = 2.0
BOXES_SECONDS = 0.3
COLD_SECONDS = 0.35

BOX_FAMILIES = tuple(
    f"{tiling}_{ranks}"
    for tiling in ("rows", "grid", "guillotine_2d", "guillotine_3d")
    for ranks in ("rank_per_box", "8_ranks")
)


def judged(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target with what was measured; targets about families that were not measured are left out."""
    return [*_coverage(report), *_layouts(report), *_extents(report), *_boxes(report), *_cold(report)]


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
