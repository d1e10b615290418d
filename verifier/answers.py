"""What an engine says of one question. Never a bool, never None.

An answer is about a question (multisets of addresses); a verdict (``verdicts.py``) is about a map.
"""

from __future__ import annotations

from dataclasses import dataclass

from verifier.certificates.forms import Form


@dataclass(frozen=True, slots=True)
class Defect:
    """Where a question fails.

    Attributes:
        place: (address,), or (source, dest) for SamePairs; None when the engine knows only that one exists.
        excess: visits minus visits demanded at that place; None when the place is None or not counted.
        least: True when the engine guarantees that no smaller place is defective.
    """

    place: tuple[int, ...] | None
    excess: int | None
    least: bool


@dataclass(frozen=True, slots=True)
class Holds:
    """The statement is true, and ``form`` is the evidence."""

    form: Form
    engine: str


@dataclass(frozen=True, slots=True)
class Fails:
    """The statement is false, certainly, at ``defect``."""

    defect: Defect
    engine: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not decided: SM901 (outside the fragment), SM902 (over budget), SM903 (a solver gave up), or TB101.

    TB101 is for an engine that asks others and got certain answers from two that contradict each other.
    """

    code: str
    reason: str
    engine: str


Answer = Holds | Fails | Unknown
