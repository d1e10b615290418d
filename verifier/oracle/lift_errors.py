"""Why no map could be taken from a function."""

from __future__ import annotations

from verifier.oracle.errors import OracleError


class LiftError(OracleError):
    """No map was taken from a function.

    Attributes:
        rank: the rank it was called for, None when no rank matters.
    """

    def __init__(self, rank: int | None, reason: str) -> None:
        self.rank = rank
        super().__init__(reason if rank is None else f"rank {rank}: {reason}")


class BadTargetError(LiftError):
    """What was handed over is nothing to lift from: no shape, no ranks, parts that do not fit together."""


class CallFailedError(LiftError):
    """The function raised, whatever the dtype of the tensor it was given."""


class NotATensorError(LiftError):
    """The function returned no dense tensor of real numbers with memory behind it."""


class NotDeterministicError(LiftError):
    """The same call gave two results."""


class DataDependentError(LiftError):
    """The shape of the result, or which of its cells are written, depends on the values."""


class DtypeDependentError(LiftError):
    """The function does one thing for integers and another for floating point."""


class TooCoarseError(LiftError):
    """The dtype has too few values to tell elements apart."""


class TooLargeError(LiftError):
    """There are more elements, cells or blocks than can be looked at, or than there is memory for."""


class NotAGatherError(LiftError):
    """A cell is not one element times a fixed factor: a sum, a mean, a bias, a clamp, a sorted order.

    Attributes:
        cell: its shard address.
    """

    def __init__(self, rank: int, cell: int, reason: str) -> None:
        self.cell = cell
        super().__init__(rank, f"shard address {cell} {reason}")
