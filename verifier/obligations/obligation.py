"""One statement that must hold for a map: a question with a name and a place in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from verifier.obligations.questions import Question

Family = Literal["shard", "holders", "parameter", "reference", "unit"]


@dataclass(frozen=True, slots=True)
class Unposed:
    """The question could not even be put within its budget; the obligation is undecided."""

    reason: str


class Obligation(NamedTuple):
    """A question about one map.

    ``name`` is the key of its evidence in a certificate, e.g. "shard/0" or "holders/0,1/1/1".
    ``rank`` is the rank it is about, None for the whole parameter.
    """

    name: str
    family: Family
    rank: int | None
    question: Question | Unposed
