"""A campaign as text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.report.campaign import CampaignReport
from fuzz.report.section import Section

SHOWN = 12
"""Most findings shown; the stored report has all."""


def render_text(report: CampaignReport) -> str:
    """The tables, the findings, and the summary as the last line."""
    lines = [line for section in report.sections() for line in _section(section)]
    findings = report.findings()
    for found in findings[:SHOWN]:
        lines += [
            f"{found.kind}: {found.key}  ({report.times_seen(found)})",
            f"  {found.words}",
            f"  {found.layout}, {found.mutant or 'a right map'}: {report.replay(found)}",
            "",
        ]
    if len(findings) > SHOWN:
        lines += [f"and {len(findings) - SHOWN} more kinds of finding; --report FILE has all", ""]
    return "\n".join([*lines, report.summary()]) + "\n"


def _section(section: Section) -> list[str]:
    cells = [[_cell(value) for value in row] for row in (section.head, *section.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(section.head))]
    return [section.title, *(_row(row, widths) for row in cells), ""]


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if k == 0 else cell.rjust(width)
        for k, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(["", first, *others]).rstrip()


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else value
