"""Targets small enough to know what a campaign must find. Worker processes import them from here."""

import os
from dataclasses import dataclass
from typing import ClassVar

from fuzz.cases import Case, Selection
from fuzz.outcomes import SILENT, Tally, finding
from fuzz.walk import walk

FEW = Selection(layouts=("row", "column", "replicated"), size=12)


@dataclass(frozen=True)
class Gullible:
    """Takes every map: silently wrong wherever a walk finds something."""

    name: str = "gullible"
    version: str = "1"
    selection: Selection = FEW

    def run(self, case: Case) -> Tally:
        tally = Tally()
        walked = walk(case.shard_map, case.expectation)
        tally.count("map", "right" if walked.ok else "wrong")
        if not walked.ok:
            tally.note(
                finding(case, SILENT, str(case.mutant), f"takes a map with {walked.violations[0].family}")
            )
        return tally


@dataclass(frozen=True)
class Crashing(Gullible):
    """Crashes on every map with a defect."""

    name: str = "crashing"

    def run(self, case: Case) -> Tally:
        if case.mutant is not None:
            raise ZeroDivisionError("planted")
        return Tally()


@dataclass(frozen=True)
class Deadly(Gullible):
    """Takes its process down at one case."""

    name: str = "deadly"
    DEADLY: ClassVar[int] = 150

    def run(self, case: Case) -> Tally:
        if case.index == self.DEADLY:
            os._exit(7)
        return Tally()
