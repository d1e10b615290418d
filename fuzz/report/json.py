"""A campaign as JSON, for programs. No clocks, no machine: equal campaigns give equal bytes."""

from __future__ import annotations

import json

from fuzz.report.campaign import CampaignReport

SCHEMA = "shardproof.fuzz/1"


def render_json(report: CampaignReport) -> str:
    """Counts by label, and the least example of each distinct finding with its maps."""
    document = {
        "schema": SCHEMA,
        "target": report.target,
        "command": report.command,
        "cases": report.cases,
        "counts": [[*label, count] for label, count in sorted(report.tally.counts.items())],
        "findings": [
            {
                "kind": found.kind,
                "key": found.key,
                "times": report.times(found),
                "case": found.case,
                "layout": found.layout,
                "mutant": found.mutant,
                "words": found.words,
                **found.document,
            }
            for found in report.findings()
        ],
    }
    return json.dumps(document, indent=1, sort_keys=True) + "\n"
