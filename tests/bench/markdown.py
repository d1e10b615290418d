"""The report as a page for people."""

from __future__ import annotations

from typing import Any

from tests.bench.many_boxes import CAP, DECIDE, seconds_at
from tests.bench.ours import CHECK
from tests.bench.targets import seconds_of


def render(report: dict[str, Any], plot: str) -> str:
    """The page, from the JSON values alone; ``plot`` is the file beside it that has the growth."""
    parts = [
        *_head(report),
        *_targets(report["targets"]),
        *_families(report),
        *_many_boxes(report["many_boxes"], plot),
        *_extents(report["growing_extents"]),
        *_cold(report["cold_start"]),
        *_checks({**report["peers"], **report["box_peers"]}),
    ]
    return "\n".join(parts) + "\n"


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            value = seconds / size
            return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"
    raise AssertionError("the last unit takes everything")


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _head(report: dict[str, Any]) -> list[str]:
    machine, effort = report["machine"], report["effort"]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return [
        "# Speed, side by side",
        "",
        f"Made by `{report['command']}`; do not edit.",
        "",
        f"Versions: {versions}.",
        "",
        "All numbers are medians of processor time in one run on one machine"
        f" ({machine['processor']}, {machine['cores']} cores, load {machine['load_average']:g} at the end,"
        f" a million updates of a dict in {duration(machine['million_dict_updates_seconds'])});"
        " the ratios are what counts."
        f" Up to {effort['repetitions']} samples each; a call longer than {effort['cap']:g} s is stopped."
        " `~` marks a number extrapolated from a smaller size, in proportion to the elements walked"
        " (for model-sized sets, of a column split)."
        " Others at work on the machine make processor time grow as well, so a target in seconds"
        " that is missed here may be met on an idle core.",
        "",
        f"`ratio` is the peer's time over that of `{CHECK}` on the same maps: above 1 the peer is slower."
        " What a peer checks is often much less; the last section says what.",
        "",
    ]


def _targets(targets: list[dict[str, Any]]) -> list[str]:
    rows = []
    for target in targets:
        measured = (
            duration(target["measured"]) if target["unit"] == "s" else f"{_ratio(target['measured'])} times"
        )
        rows.append([target["target"], measured, "met" if target["met"] else "**not met**", target["note"]])
    return ["## Targets", "", *_table(["target", "measured", "", "note"], rows), ""]


def _families(report: dict[str, Any]) -> list[str]:
    lines = ["## Families", ""]
    for family in report["families"]:
        size, own = family["size"], seconds_of(report, family["name"], CHECK)
        lines += [
            f"### {family['title']}",
            "",
            f"`{family['name']}`: maps {size['maps']:,}, pieces {size['pieces']:,},"
            f" elements {size['elements']:,}." + _elsewhere(family),
            "",
            *_table(
                ["peer", "median", "ratio", "answer", "note"],
                [_timing_row(timing, own) for timing in family["timings"]],
            ),
            "",
        ]
    return lines


def _elsewhere(family: dict[str, Any]) -> str:
    other = family["same_parameter_side_as"]
    return (
        f" Peers that see only the parameter are timed at `{other}`, where it is cut alike." if other else ""
    )


def _timing_row(timing: dict[str, Any], own: float | None) -> list[str]:
    answer = {True: "accepts", False: "rejects", None: ""}[timing["accepted"]]
    note = timing["note"]
    match timing["status"]:
        case "measured":
            time = duration(timing["seconds"])
        case "extrapolated":
            time = "~" + duration(timing["seconds"])
            start = timing["extrapolated_from"]
            note = f"from {duration(start['seconds'])} for {start['elements']:,} elements walked"
        case "capped":
            time = "> " + duration(timing["seconds"])
        case _:
            time = "-"
    ratio = "" if own is None or timing["seconds"] is None else _ratio(timing["seconds"] / own)
    prefix = {"capped": "> ", "extrapolated": "~"}.get(timing["status"], "")
    return [timing["peer"], time, prefix + ratio if ratio else "", answer, note]


def _many_boxes(families: list[dict[str, Any]], plot: str) -> list[str]:
    if not families:
        return []
    lines = [
        "## Very many boxes of one parameter",
        "",
        "The boxes are in memory in the form that each peer takes."
        f" `ratio` is its time over that of `{DECIDE}`."
        f" A call longer than {CAP:g} s is stopped, and that peer is asked about no larger size.",
        "",
        f"![seconds by number of boxes]({plot})",
        "",
    ]
    for family in families:
        rows = [_box_row(family, timing) for timing in family["timings"]]
        head = ["boxes", "peer", "median", "us a box", "ratio", "answer"]
        lines += [f"### {family['title']}", "", f"`{family['name']}`.", "", *_table(head, rows), ""]
    return lines


def _box_row(family: dict[str, Any], timing: dict[str, Any]) -> list[str]:
    own = seconds_at(family, DECIDE, timing["asked"])
    more = "> " if timing["status"] == "capped" else ""
    return [
        f"{timing['boxes']:,}",
        timing["peer"],
        more + duration(timing["seconds"]),
        f"{more}{timing['seconds'] / timing['boxes'] * 1e6:.3g}",
        "" if own is None else more + _ratio(timing["seconds"] / own[0]),
        {True: "accepts", False: "rejects", None: ""}[timing["accepted"]],
    ]


def _extents(extents: list[dict[str, Any]]) -> list[str]:
    rows = [[f"2^{timing['log2_elements']}", duration(timing["seconds"])] for timing in extents]
    return ["## The same map with growing extents", "", *_table(["elements", CHECK], rows), ""]


def _cold(cold: dict[str, Any]) -> list[str]:
    rows = [
        [
            name,
            duration(times["wall_median"]),
            duration(times["wall_least"]),
            duration(times["cpu_median"]),
            duration(times["cpu_least"]),
        ]
        for name, times in cold["seconds"].items()
    ]
    modules = [
        f"After the audit of a {verdict} map (exit {found['exit_code']}) its process had imported "
        f"{', '.join(found['heavy_modules']) or 'none'} of {', '.join(cold['looked_for'])}."
        for verdict, found in cold["modules"].items()
    ]
    head = ["process", "wall, median", "wall, least", "processor, median", "processor, least"]
    return [
        "## Cold start",
        "",
        f"Each of {cold['processes']} processes, taken in turn.",
        "",
        *_table(head, rows),
        "",
        *modules,
        "",
    ]


def _checks(peers: dict[str, str]) -> list[str]:
    rows = [[name, checks] for name, checks in peers.items()]
    return ["## What each checks", "", *_table(["peer", "checks"], rows)]
