"""What a campaign is run against: anything that accepts a map."""

from __future__ import annotations

from typing import Protocol

from fuzz.cases import Case, Selection
from fuzz.outcomes import Tally


class Target(Protocol):
    """Something that takes maps. Targets travel to worker processes, so they are small and can be pickled."""

    @property
    def name(self) -> str:
        """What ``--target`` calls it."""
        ...

    @property
    def version(self) -> str:
        """Of the software behind it, for reports."""
        ...

    @property
    def selection(self) -> Selection:
        """The cases it is asked about."""
        ...

    def run(self, case: Case) -> Tally:
        """Everything asked of one case. Deterministic: the same case gives the same tally."""
        ...
