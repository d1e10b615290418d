"""A rule that a contract breaks, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Broken:
    """One broken rule.

    Attributes:
        pointer: JSON pointer of the value at fault, in the document.
        rule: its id, e.g. "R39" or "N5".
        message: what is wrong there, in one line with the value.
    """

    pointer: str
    rule: str
    message: str
