"""What came of cases: counts by label, and of each kind of finding the least example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fuzz.cases import Case
from fuzz.consumers.classes import Class
from fuzz.weight import Weight, weight
from verifier.certificates.encode import Certificate

Label = tuple[str, ...]

DISAGREEMENT = "disagreement"
"""Two answers of ours that cannot both be right: a bug of shardproof."""
SILENT = Class.SILENT.value
"""A target took a wrong map without a word and made something wrong of it."""
REFUSED_RIGHT = Class.REFUSED_RIGHT.value
"""A target refused a map that is right."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something of one case that people should see.

    Attributes:
        kind: ``DISAGREEMENT``, ``SILENT``, ``REFUSED_RIGHT``.
        key: findings of one kind and one key are one finding, seen again.
        seed, index: the case.
        words: one sentence.
        document: ``map``, ``expectation`` and, where the map had one, ``clean``: the map before its defect,
            all as JSON.
        weight: of the map and its expectation; the least is kept.
    """

    kind: str
    key: str
    seed: int
    index: int
    layout: str
    mutant: str | None
    words: str
    document: dict[str, Any]
    weight: Weight

    @property
    def case(self) -> str:
        """The name of the case."""
        return f"{self.seed}:{self.index}"

    @property
    def order(self) -> tuple[Weight, int, int, str]:
        """Ascending; the first of a key is the example."""
        return self.weight, self.seed, self.index, self.words


def finding(case: Case, kind: str, key: str, words: str) -> Finding:
    """A finding about a case."""
    stated = Certificate(case.shard_map, case.expectation).to_json()
    document = {name: stated[name] for name in ("map", "expectation")}
    if case.mutant is not None:
        document["clean"] = Certificate(case.clean, case.expectation).to_json()["map"]
    heavy = weight(case.shard_map, case.expectation)
    return Finding(kind, key, case.seed, case.index, case.layout, case.mutant, words, document, heavy)


@dataclass(slots=True)
class Tally:
    """Counts by label, and by (kind, key) the first finding and how often it was seen.

    Sums do not depend on the order in which cases are added, so neither on processes nor on interruptions.
    """

    counts: Counter[Label] = field(default_factory=Counter)
    examples: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def count(self, *label: str, times: int = 1) -> None:
        """One more of a label."""
        self.counts[label] += times

    def note(self, found: Finding) -> None:
        """One more finding."""
        self.counts["finding", found.kind, found.key] += 1
        self._keep(found)

    def merge(self, other: Tally) -> None:
        """The cases of another tally too."""
        self.counts.update(other.counts)
        for found in other.examples.values():
            self._keep(found)

    def row(self, *label: str) -> dict[str, int]:
        """Counts under a label, by the next word."""
        found: Counter[str] = Counter()
        for key, count in self.counts.items():
            if key[: len(label)] == label and len(key) > len(label):
                found[key[len(label)]] += count
        return dict(sorted(found.items()))

    def seen(self, kind: str) -> int:
        """How many findings of a kind there were, those without an example too."""
        return sum(self.row("finding", kind).values())

    def findings(self, *kinds: str) -> Iterable[Finding]:
        """The examples of those kinds, the least first."""
        return sorted((f for f in self.examples.values() if f.kind in kinds), key=lambda f: f.order)

    def _keep(self, found: Finding) -> None:
        known = self.examples.get((found.kind, found.key))
        if known is None or found.order < known.order:
            self.examples[found.kind, found.key] = found
