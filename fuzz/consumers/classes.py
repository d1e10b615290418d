"""What became of one map in one operation of somebody else's code."""

from __future__ import annotations

from enum import StrEnum


class Class(StrEnum):
    """The worst first."""

    SILENT = "silently wrong"
    REFUSED_RIGHT = "refused though right"
    RAISED = "raised something else"
    REFUSED = "refused by name"
    EXACT = "still exact"


A_RIGHT_MAP = "a right map"
"""What people read of a case without a defect, where others have their mutant."""
