"""What is kept while a map of the corpus is shrunk: our answer to it, beyond its verdict.

Verdict and primary code alone would make the same smallest map of every one that has them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

from fuzz.agreement import flattened
from fuzz.shrinking.descent import shrink
from fuzz.shrinking.example import Example
from verifier.audit.check import Settings, verdict_word
from verifier.audit.judge import judge
from verifier.diagnostics.report import SubjectVerdict
from verifier.verdicts import Proved


class Answer(NamedTuple):
    """The answer to an example.

    Attributes:
        primary: the code of the first fault, None where there is none.
        codes: of all faults, those with the cause of another one too.
        reference: what it is to the map.
    """

    verdict: SubjectVerdict
    primary: str | None
    codes: frozenset[str]
    reference: Literal["none", "other shapes", "wrong itself", "right"]


def answer_to(example: Example) -> Answer:
    """Our answer to an example."""
    judgement = judge(example.shard_map, example.expectation, Settings().answering())
    codes = [fault.code for fault in flattened(judgement.faults)]
    primary = codes[0] if codes else None
    return Answer(verdict_word(judgement.verdict), primary, frozenset(codes), _reference(example))


def shrink_answered(example: Example) -> Example:
    """The least example found with the same answer; a proved one stays: nothing at all is right, too."""
    answer = answer_to(example)
    if answer.verdict == "proved":
        return example
    return shrink(example, lambda smaller: answer_to(smaller) == answer)


def _reference(example: Example) -> Literal["none", "other shapes", "wrong itself", "right"]:
    reference = example.expectation.reference
    if reference is None:
        return "none"
    here, there = (
        (m.logical_shape, {rank: shard.shard_shape for rank, shard in m.ranks.items()})
        for m in (example.shard_map, reference)
    )
    if here != there:
        return "other shapes"
    alone = judge(reference, replace(example.expectation, reference=None), Settings().answering())
    return "right" if isinstance(alone.verdict, Proved) else "wrong itself"
