"""What is left of a limit that the parts of one document share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Allowance:
    """A number that counts down while work is done; below zero it is used up."""

    left: int
