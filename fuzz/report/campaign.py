"""The whole report of a campaign: what ran, what was found, the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Finding, Tally
from fuzz.report.acceptance import acceptance_sections
from fuzz.report.prover import prover_sections
from fuzz.report.section import Section

KINDS = (DISAGREEMENT, SILENT, REFUSED_RIGHT)
"""Findings, the worst first."""
PLURAL = {DISAGREEMENT: "disagreements"}


@dataclass(frozen=True, slots=True)
class CampaignReport:
    """A campaign that ended.

    Attributes:
        target: its name and version.
        command: that gives the same result.
        cases: how many ran.
        tally: their sum.
    """

    target: str
    command: str
    cases: int
    tally: Tally

    def sections(self) -> Iterator[Section]:
        """The tables."""
        ours = bool(self.tally.row("verdict"))
        yield from prover_sections(self.tally) if ours else acceptance_sections(self.tally)

    def summary(self) -> str:
        """One sentence."""
        return f"{self.target}: {self.cases:,} cases, {self.found()}"

    def found(self) -> str:
        """How many findings of each kind, such as "0 disagreements, 12 silently wrong"."""
        return ", ".join(
            f"{self.tally.seen(kind):,} {PLURAL.get(kind, kind) if self.tally.seen(kind) != 1 else kind}"
            for kind in self.kinds()
        )

    def kinds(self) -> list[str]:
        """The kinds of finding to speak of: disagreements always, the others where there are any."""
        return [kind for kind in KINDS if kind == DISAGREEMENT or self.tally.seen(kind)]

    def findings(self) -> list[Finding]:
        """The least example of each distinct finding: the worst kinds first, of one kind right maps first."""
        return [
            found
            for kind in KINDS
            for found in sorted(self.tally.findings(kind), key=lambda found: found.mutant is not None)
        ]

    def replay(self, found: Finding) -> str:
        """The command that shows a case again."""
        selection = self.command.partition(" --cases")[0].partition(" --seed")[0]
        return f"{selection} --case {found.case}"

    def times_seen(self, found: Finding) -> str:
        """How often a finding was seen, its example among them, in words."""
        times = self.times(found)
        return "once" if times == 1 else f"{times:,} times"

    def times(self, found: Finding) -> int:
        """How often a finding was seen, its example among them."""
        return self.tally.counts["finding", found.kind, found.key]
