"""A campaign as markdown, for ``reports/``."""

from __future__ import annotations

import json

from fuzz.outcomes import Finding
from fuzz.report.campaign import CampaignReport
from fuzz.report.section import Section
from fuzz.tables import table


def render_markdown(report: CampaignReport, cases_a_second: float | None = None) -> str:
    """The report. Only its last line, there when a rate is given, depends on the machine."""
    parts = [
        f"# Fuzzing {report.target}",
        f"Command: `{report.command}`",
        f"**{report.cases:,} cases, {report.found()}.**",
        *(part for section in report.sections() for part in _section(section)),
    ]
    if findings := report.findings():
        parts += ["## Findings", "The least example of each distinct one, the worst kinds first."]
        parts += [_finding(report, found) for found in findings]
    if cases_a_second is not None:
        parts.append(f"---\n(machine-dependent) {cases_a_second:.0f} cases a second")
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    words = [section.words] if section.words else []
    return [f"## {section.title}", *words, table(section.head, section.rows)]


def _finding(report: CampaignReport, found: Finding) -> str:
    document = json.dumps(found.document["map"], sort_keys=True)
    lines = [
        f"- **{found.kind}**: {found.key} ({report.times_seen(found)})",
        f"  case `{found.case}`, layout {found.layout}, {found.mutant or 'a right map'}: {found.words}",
        f"  `{document}`",
    ]
    if "clean" in found.document:
        lines.append(f"  clean: `{json.dumps(found.document['clean'], sort_keys=True)}`")
    return "\n".join(lines)
