"""The sum of many cases, and its JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.trial import Outcome
from verifier.certificates.encode import Certificate

KEPT = 200
"""Most disagreements kept with their maps; all are counted."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two answers that cannot both be right. ``document`` holds the map and its expectation as JSON."""

    case: str
    kind: str
    mutant: str | None
    words: str
    document: dict[str, Any]


@dataclass(slots=True)
class Campaign:
    """Counts by label and all disagreements, in the order of the cases."""

    counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    disagreements: list[Disagreement] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """One more case."""
        self.counts.update(outcome.counts)
        case = outcome.case
        for words in outcome.disagreements:
            self.counts[("disagreement",)] += 1
            if len(self.disagreements) < KEPT:
                document = Certificate(case.shard_map, case.expectation).to_json()
                kept = {name: document[name] for name in ("map", "expectation")}
                self.disagreements.append(Disagreement(case.name, case.kind, case.mutant, words, kept))

    def merge(self, other: Campaign) -> None:
        """The cases of another campaign, after these."""
        self.counts.update(other.counts)
        self.disagreements += other.disagreements[: max(0, KEPT - len(self.disagreements))]

    def row(self, *label: str) -> dict[str, int]:
        """Counts under a label, by the next word."""
        found: Counter[str] = Counter()
        for key, count in self.counts.items():
            if key[: len(label)] == label and len(key) > len(label):
                found[key[len(label)]] += count
        return dict(sorted(found.items()))


def write_json(campaign: Campaign, path: Path) -> None:
    """Counts and disagreements as JSON; no clocks."""
    document = {
        "schema": "shardproof.differential/1",
        "counts": [[*key, count] for key, count in sorted(campaign.counts.items())],
        "disagreements": [
            {"case": d.case, "kind": d.kind, "mutant": d.mutant, "words": d.words, **d.document}
            for d in campaign.disagreements
        ],
    }
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
