"""Obligations by family, in the words of the table of codes: what was asked of a map, and what came out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from verifier.diagnostics.report import Obligations
from verifier.obligations.obligation import Family

PIECES = "piece"
"""The rules for single pieces, which need no engine."""
EXPECTED = "expectations"

_FAMILIES: Mapping[Family, str] = {
    "shard": "shard side",
    "parameter": "parameter side",
    "holders": "replicas",
    "reference": EXPECTED,
    "unit": EXPECTED,
}


def by_family(
    answers: Iterable[tuple[Family, Obligations]], *, pieces: Obligations, expected: Obligations
) -> dict[str, Obligations]:
    """The answers added up; families of which nothing was asked are left out.

    ``pieces`` are the answers of the rules for single pieces, ``expected`` those to demands of the reader
    that no engine answered.
    """
    found: defaultdict[str, Obligations] = defaultdict(Obligations)
    found[PIECES] += pieces
    for family, answer in answers:
        found[_FAMILIES[family]] += answer
    found[EXPECTED] += expected
    return {name: counts for name, counts in found.items() if counts.total}
