"""Why a model could not be inspected."""

from __future__ import annotations

from verifier.oracle.errors import OracleError


class LiveError(OracleError):
    """A model could not be inspected."""


class GroupInUseError(LiveError):
    """A process group is initialized already; a model is inspected under one of our own."""


class NoSuchRankError(LiveError):
    """The world has no such rank, or no ranks at all."""


class BuildFailedError(LiveError):
    """The function that builds the model raised, or built none.

    Attributes:
        rank: the rank it was called as.
    """

    def __init__(self, rank: int, reason: str) -> None:
        self.rank = rank
        super().__init__(f"rank {rank}: {reason}")


class StaleMeshError(LiveError):
    """A DTensor is on a mesh of another rank: torch kept it from an earlier build in this process."""
