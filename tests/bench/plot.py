"""How time grows with the number of boxes: both axes logarithmic, a line for each peer and family."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from tests.bench.many_boxes import DECIDE, PLAN

SHOWN = {DECIDE: "", PLAN: "6 4"}
"""Peers in the picture, and how their lines are dashed."""

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2", "#9c6b4e")

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 80, 260, 30, 60

Point = tuple[float, float]
"""Boxes and seconds."""


def growth(families: Sequence[dict[str, Any]]) -> str:
    """The picture as SVG; families measured at one size only are left out."""
    lines = [
        (position, f"{family['name'].removeprefix('many_')}: {peer}", dash, points)
        for position, family in enumerate(families)
        for peer, dash in SHOWN.items()
        if len(points := _points(family, peer)) > 1
    ]
    every = [point for *_, points in lines for point in points]
    scale = _Scale(every)
    body = [*_axes(scale), *_ideal(scale, every)]
    for row, (position, title, dash, points) in enumerate(lines):
        colour = COLOURS[position % len(COLOURS)]
        body += [_line(scale, points, colour, dash), *_legend(row, title, colour, dash)]
    body += _legend(len(lines), "n log n", "#888", "2 3")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
            ' font-family="sans-serif" font-size="12">',
            "<title>Seconds by number of boxes of one parameter</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


def _points(family: dict[str, Any], peer: str) -> list[Point]:
    return [
        (timing["boxes"], timing["seconds"])
        for timing in family["timings"]
        if timing["peer"] == peer and timing["status"] == "measured"
    ]


class _Scale:
    """Places of boxes and seconds in the picture; both axes go from one power of ten to another."""

    def __init__(self, points: Sequence[Point]) -> None:
        counts, seconds = zip(*points, strict=True)
        self.decades = [
            (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))
            for values in (counts, seconds)
        ]

    def x(self, count: float) -> float:
        low, high = self.decades[0]
        return LEFT + (math.log10(count) - low) / max(high - low, 1) * (WIDTH - LEFT - RIGHT)

    def y(self, seconds: float) -> float:
        low, high = self.decades[1]
        return HEIGHT - BOTTOM - (math.log10(seconds) - low) / max(high - low, 1) * (HEIGHT - TOP - BOTTOM)


def _axes(scale: _Scale) -> Iterator[str]:
    (first, last), (least, most) = scale.decades
    for power in range(first, last + 1):
        x = scale.x(10**power)
        yield _stroke([(x, TOP), (x, HEIGHT - BOTTOM)], "#ddd")
        yield _text(x, HEIGHT - BOTTOM + 18, f"{10**power:,}", "middle")
    for power in range(least, most + 1):
        y = scale.y(10.0**power)
        yield _stroke([(LEFT, y), (WIDTH - RIGHT, y)], "#ddd")
        yield _text(LEFT - 8, y + 4, f"{10.0**power:g} s", "end")
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, "boxes", "middle")


def _ideal(scale: _Scale, points: Sequence[Point]) -> Iterator[str]:
    """A line of slope n log n through the quickest large measurement."""
    large = max(count for count, _ in points)
    count, seconds = min(point for point in points if point[0] > large / 2)
    each = seconds / (count * math.log2(count))
    least = min(points)[0]
    places = [least * (count / least) ** (step / 20) for step in range(21)]
    floor = 10.0 ** scale.decades[1][0]
    ideal = [(n, each * n * math.log2(n)) for n in places]
    yield _line(scale, [point for point in ideal if point[1] >= floor], "#888", "2 3")


def _line(scale: _Scale, points: Sequence[Point], colour: str, dash: str) -> str:
    return _stroke([(scale.x(count), scale.y(seconds)) for count, seconds in points], colour, dash, width=2)


def _stroke(places: Sequence[Point], colour: str, dash: str = "", *, width: int = 1) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _legend(row: int, title: str, colour: str, dash: str) -> Iterator[str]:
    y, x = TOP + 8 + 20 * row, WIDTH - RIGHT + 16
    yield _stroke([(x, y), (x + 26, y)], colour, dash, width=2)
    yield _text(x + 32, y + 4, title, "start")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
