"""The shape of a state field, from its geometry and the shape of its parameter."""

from __future__ import annotations

import math

from verifier.contracts.geometry import Geometry
from verifier.contracts.induced.fibres import block_size


def field_shape(geometry: Geometry, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the field.

    Raises:
        ValueError: it is not known before a run, or the parameter has too few dimensions.
    """
    match geometry.kind:
        case "parameter":
            return shape
        case "scalar" | "identity":
            return ()
        case "row" if len(shape) >= 2:
            return (*shape[:-1], 1) if geometry.keepdim else shape[:-1]
        case "column" if len(shape) >= 2:
            middle = (1,) if geometry.keepdim else ()
            return (*shape[:-2], *middle, shape[-1])
        case "block" | "packed" if geometry.domain == "row" and shape:
            return (*shape[:-1], -(-shape[-1] // block_size(geometry)))
        case "block" | "packed" if geometry.domain == "tensor":
            return (-(-math.prod(shape) // block_size(geometry)),)
        case "codebook" if geometry.entries is not None:
            return (geometry.entries,)
        case "factor" if geometry.axis is not None and geometry.axis < len(shape):
            return (shape[geometry.axis],) * 2
    raise ValueError(f"the shape of {geometry.kind} state for a parameter {shape} is not known")
