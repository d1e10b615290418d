"""How a state field is made from its parameter: which parameter elements feed which state element.

A geometry is a relation between the index set of the parameter and that of the field. Where each parameter
element feeds one state element it is a function rho, and the fibre of a state element is what feeds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "scalar",
    "parameter",
    "row",
    "column",
    "block",
    "packed",
    "codebook",
    "factor",
    "identity",
    "opaque",
]
Domain = Literal["tensor", "shard", "row"]


@dataclass(frozen=True, slots=True)
class RunTimeSize:
    """A block size that a field of the state holds: unknown before the optimizer has run."""

    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """One geometry.

    Attributes:
        kind: scalar and identity: one value for the parameter; parameter: like the parameter; row: the mean
            over the last axis; column: the mean over the axis before it; block: one value for ``size``
            consecutive elements; packed: ``per`` elements in one byte; codebook: ``entries`` values for all
            parameters; factor: a matrix of the size of ``axis`` twice; opaque: unknown.
        size: elements of a block; of another kind None.
        domain: whether blocks are counted in the whole tensor, in each shard, or in each row.
        axis: of a factor.
        per: elements in one byte of a packed field.
        keepdim: whether row and column keep the axis they reduce, with one element.
        entries: of a codebook.
        learned: whether a codebook is computed from the parameters.
    """

    kind: Kind
    size: int | RunTimeSize | None = None
    domain: Domain = "tensor"
    axis: int | None = None
    per: int | None = None
    keepdim: bool = False
    entries: int | None = None
    learned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How ranks that share a state element put their parts together.

    Attributes:
        axes: of the parameter, over which is reduced.
        op: mean, sum or max.
        weighting: a mean is right when sums are added and then divided by the global count; a mean of means
            is right only where all parts are equal. None for other operations.
    """

    axes: tuple[int, ...]
    op: Literal["mean", "sum", "max"]
    weighting: Literal["sum_then_divide", "mean_of_means"] | None = None
