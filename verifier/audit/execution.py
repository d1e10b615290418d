"""What an execution of a map adds to its report."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.obligations.faults import Fault


@dataclass(frozen=True, slots=True)
class Execution:
    """Notes on a replay, and a TB101 fault when it contradicts the verdict."""

    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
