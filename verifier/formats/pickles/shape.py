"""The shape of a value built by a pickle: no cycles, bounded depth, bounded size.

A pickle can share parts: forty lists of two references each are a tree of 2**40 leaves. Whoever walks the
value walks that tree, so its size is counted as a tree, in time linear in the parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verifier.formats.pickles.records import Call
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin

CONTAINERS = frozenset({list, tuple, dict, Call})
"""The types of values that have parts; the machine makes no subclasses of them."""

OPEN = (-1, -1)
"""The measure of a container whose parts are still being measured."""


@dataclass(slots=True)
class _Visit:
    """A container being measured: what is left to look at, and its size and height so far."""

    container: object
    left: Iterator[object]
    size: int
    height: int = 1


def check_shape(value: object, origin: Origin, limits: Limits) -> None:
    """Refuse a value that contains itself (SM007), or is too deep or too large as a tree (SM006).

    Raises:
        FormatError: SM006, SM007.
    """
    measures: dict[int, tuple[int, int]] = {}
    stack = [_visit(value, measures)] if type(value) in CONTAINERS else []
    while stack:
        visit = stack[-1]
        for child in visit.left:
            measure = measures.get(id(child))
            if measure is None:
                stack.append(_visit(child, measures))
                break
            if measure is OPEN:
                raise FormatError(
                    "SM007",
                    "a value in the pickle contains itself",
                    origin,
                    help="no map needs that; do not load this file, find out who wrote it",
                )
            _add(visit, measure)
        else:
            if visit.size > limits.nodes:
                raise _over(f"{visit.size} values", limits.nodes, "values", origin)
            if visit.height > limits.depth:
                raise _over(f"{visit.height} levels of nesting", limits.depth, "levels", origin)
            stack.pop()
            measures[id(visit.container)] = (visit.size, visit.height)
            if stack:
                _add(stack[-1], measures[id(visit.container)])


def _visit(container: object, measures: dict[int, tuple[int, int]]) -> _Visit:
    """Begin to measure a container. Keys are leaves (see ``Machine.check_key``) and are not looked at."""
    measures[id(container)] = OPEN
    parts: tuple[object, ...] = ()
    match container:
        case dict():
            parts = tuple(container.values())
        case list() | tuple():
            parts = tuple(container)
        case Call():
            parts = (container.args, container.state)
    inner = [part for part in parts if type(part) in CONTAINERS]
    return _Visit(container, iter(inner), 1 + len(parts) - len(inner))


def _add(visit: _Visit, measure: tuple[int, int]) -> None:
    size, height = measure
    visit.size += size
    visit.height = max(visit.height, height + 1)


def _over(found: str, limit: int, unit: str, origin: Origin) -> FormatError:
    return FormatError(
        "SM006",
        f"{found}, over the limit of {limit} {unit}",
        origin,
        help="no map needs as much; if you trust the file, save the map as JSON",
    )
