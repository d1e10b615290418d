"""The engines in the order of their cost, each asked only what the cheaper ones left open.

An answer names the engine that gave it. A refutation without the least place is kept while the remaining
engines try to find that place. Should one of them prove what was refuted, one of the two is wrong, and
nothing is decided (TB101).
"""

from __future__ import annotations

from verifier.answers import Answer, Fails, Holds, Unknown
from verifier.budget import Budget
from verifier.engines.registry import engine_named
from verifier.obligations.questions import Packing, Question, SameAddresses, SamePairs, Tiling

ORDER = ("cancel", "fingerprint", "boxes", "search", "enumerate", "smt")
"""Fingerprint never proves, but its refutation is certain and cheap; it spares the searches below."""

MANY = 2_000
"""Questions about as many views go to the engine for columns first, which answers as ``cancel`` does."""


class Portfolio:
    """Exact cancellation first, everything else only past its budget."""

    name = "auto"

    def decide(self, question: Question, budget: Budget) -> Answer:
        """The first certain answer; Unknown lists what every engine said."""
        refuted: Fails | None = None
        unknown: list[Unknown] = []
        for name in ("bulk", *ORDER) if _views(question) >= MANY else ORDER:
            answer = engine_named(name).decide(question, budget)
            match answer:
                case Holds():
                    return answer if refuted is None else _contradiction(refuted, answer)
                case Fails(defect):
                    if defect.least:
                        return answer
                    if refuted is None or refuted.defect.place is None:
                        refuted = answer
                case Unknown():
                    unknown.append(answer)
        return refuted or _combined(unknown)


def _contradiction(refuted: Fails, proved: Holds) -> Unknown:
    """Two certain answers that cannot both be right: a bug of ours, whichever it is."""
    return Unknown("TB101", f"{refuted.engine} refutes it, {proved.engine} proves it", Portfolio.name)


def _combined(unknown: list[Unknown]) -> Unknown:
    """One Unknown for all: over budget if any engine was, for then a larger budget may help."""
    codes = {answer.code for answer in unknown}
    code = next(c for c in ("SM902", "SM903", "SM901") if c in codes)
    return Unknown(code, "; ".join(f"{answer.engine}: {answer.reason}" for answer in unknown), Portfolio.name)


def _views(question: Question) -> int:
    """How many views a question is about that columns can decide."""
    match question:
        case Tiling(_, views) | Packing(_, views):
            return len(views)
        case SameAddresses(left, right) | SamePairs(left, right):
            return len(left) + len(right)
        case _:
            return 0
