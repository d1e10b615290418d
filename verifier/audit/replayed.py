"""What replaying one case of a corpus came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.diagnostics.report import Subject, is_tool_bug


@dataclass(frozen=True, slots=True)
class Replayed:
    """One case: what it states, what we say, and whether that agrees.

    ``expected`` and ``got`` are words such as "refuted (SM201, SM203)"; ``subjects`` carry the findings.
    ``tool_bug`` is True when one of them is about shardproof itself: then agreement means nothing.
    """

    file: str
    agrees: bool
    expected: str
    got: str
    subjects: tuple[Subject, ...]

    @property
    def tool_bug(self) -> bool:
        """Whether a finding says that shardproof contradicts itself."""
        return any(is_tool_bug(finding) for subject in self.subjects for finding in subject.findings)


def same(expected: str, verdict: str) -> bool:
    """Refuted and unreadable agree with each other: whether a broken map can be read depends on the form."""
    return expected == verdict or {expected, verdict} == {"refuted", "unreadable"}


def words(verdict: str, details: Sequence[str]) -> str:
    """``refuted (SM201, SM203)``."""
    return f"{verdict} ({', '.join(details)})" if details else verdict
