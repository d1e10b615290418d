"""The parameter side of a map put to general solvers, in the plain way: isl, z3, and numpy by pigeonhole.

Replicas are left out, and the shards and holders are not looked at, so that all of these do less than we do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

from tests.bench.distributed import Tensor, parameter_boxes
from tests.bench.measure import NotExpressible, Run
from verifier.geometry.strided import INT64_MAX, StridedView
from verifier.model.shard_map import ShardMap


def preload() -> dict[str, str]:
    """Load the solvers before anything is timed; their versions."""
    import islpy
    import numpy
    import z3

    return {
        "islpy": islpy.version.VERSION_TEXT,
        "numpy": numpy.__version__,
        "z3": z3.get_version_string(),
    }


def _views(shard_map: ShardMap) -> list[StridedView]:
    return list(dict.fromkeys(piece.source for _, _, piece in shard_map.pieces()))


def _adds_up(shard_map: ShardMap) -> bool:
    return sum(view.numel for view in _views(shard_map)) == shard_map.numel


def isl_boxes(maps: Sequence[ShardMap]) -> Run:
    """The union of the boxes is the parameter's box, and the counts add up. Only the set algebra is timed."""
    return isl_cover([(m.logical_shape, parameter_boxes(m)) for m in maps])


def isl_cover(tensors: Sequence[Tensor]) -> Run:
    """The same, of tensors."""
    import islpy

    def set_of(low: Sequence[int], extents: Sequence[int]) -> Any:
        names = [f"x{k}" for k in range(len(low))]
        bounds = [f"{c} <= {x} < {c + n}" for x, c, n in zip(names, low, extents, strict=True)]
        return islpy.Set(f"{{ [{', '.join(names)}] : {' and '.join(bounds)} }}")

    problems = [
        (
            [set_of(*box) for box in boxes],
            set_of((0,) * len(shape), shape),
            sum(prod(extents) for _, extents in boxes) == prod(shape),
        )
        for shape, boxes in tensors
    ]
    return lambda: all(counts and _union(sets).is_equal(whole) for sets, whole, counts in problems)


def isl_flat(maps: Sequence[ShardMap]) -> Run:
    """The union of the sets of flat addresses is 0..numel, and the counts add up."""
    import islpy

    def set_of(view: StridedView) -> Any:
        names = [f"x{k}" for k in range(len(view.shape))]
        bounds = [f"0 <= {x} < {n}" for x, n in zip(names, view.shape, strict=True)]
        terms = [f"{s} {x}" for x, s in zip(names, view.strides, strict=True)]
        address = " + ".join([str(view.offset), *terms])
        return islpy.Set(f"{{ [a] : exists {', '.join(names)} : {' and '.join(bounds)} and a = {address} }}")

    problems = [
        ([set_of(view) for view in _views(m)], islpy.Set(f"{{ [a] : 0 <= a < {m.numel} }}"), _adds_up(m))
        for m in maps
    ]
    return lambda: all(counts and _union(sets).is_equal(whole) for sets, whole, counts in problems)


def _union(sets: Sequence[Any]) -> Any:
    """Joined two by two, which isl likes far better than one after another."""
    joined = list(sets)
    while len(joined) > 1:
        joined = [a.union(b) for a, b in zip(joined[::2], joined[1::2], strict=False)] + joined[
            len(joined) & ~1 :
        ]
    return joined[0]


def z3_cover(maps: Sequence[ShardMap]) -> Run:
    """No address of 0..numel differs from all addresses of all pieces (quantified), and the counts add up."""
    import z3

    def missing(shard_map: ShardMap) -> list[Any]:
        address = z3.Int("a")
        constraints = [address >= 0, address < shard_map.numel]
        for number, view in enumerate(_views(shard_map)):
            index, inside, reached = _indices(view, f"i{number}")
            constraints.append(z3.ForAll(index, z3.Implies(z3.And(inside), address != reached)))
        return constraints

    problems = [(missing(m), _adds_up(m)) for m in maps]
    return lambda: all(counts and _is_unsat(constraints) for constraints, counts in problems)


def z3_pairs(maps: Sequence[ShardMap]) -> Run:
    """No two pieces reach one address, pair by pair and without quantifiers, and the counts add up."""

    def run() -> bool:
        pairs = (pair for m in maps for pair in combinations(_views(m), 2))
        return all(map(_adds_up, maps)) and all(_is_unsat(_meeting(*pair)) for pair in pairs)

    return run


def _meeting(first: StridedView, second: StridedView) -> list[Any]:
    _, inside, reached = _indices(first, "i")
    _, other_inside, other_reached = _indices(second, "j")
    return [*inside, *other_inside, reached == other_reached]


def _indices(view: StridedView, prefix: str) -> tuple[list[Any], list[Any], Any]:
    """Index variables, their bounds, and the address they reach."""
    import z3

    index = [z3.Int(f"{prefix}_{k}") for k in range(len(view.shape))]
    inside = [z3.And(x >= 0, x < n) for x, n in zip(index, view.shape, strict=True)]
    reached = view.offset + sum(s * x for x, s in zip(index, view.strides, strict=True))
    return index, inside, reached


def _is_unsat(constraints: Sequence[Any]) -> bool:
    import z3

    solver = z3.Solver()
    solver.add(constraints)
    return bool(solver.check() == z3.unsat)


class _Memory:
    """Addresses that numpy believes in; nothing is ever read or allocated."""

    def __init__(self, view: StridedView) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "data": (4096 + view.offset, False),
            "shape": view.shape,
            "strides": view.strides,
        }


def numpy_pairs(maps: Sequence[ShardMap]) -> Run:
    """``numpy.shares_memory`` of every two pieces, and the counts add up.

    Raises:
        NotExpressible: numpy has no array of that many bytes.
    """
    import numpy

    if any(prod(m.logical_shape) > INT64_MAX - 4096 for m in maps):
        raise NotExpressible("more than 2^63 bytes")
    problems = [([numpy.asarray(_Memory(view)) for view in _views(m)], _adds_up(m)) for m in maps]
    return lambda: all(
        counts and not any(numpy.shares_memory(a, b) for a, b in combinations(arrays, 2))
        for arrays, counts in problems
    )
