"""The shape of a value built by a pickle: no cycles, bounded depth, bounded size.

A pickle can share parts: forty lists of two references each are a tree of 2**40 leaves. Whoever walks the
value walks that tree, so its size is counted as a tree, in time linear in the parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.formats.limits import Limits
from verifier.formats.pickle_records import Call
from verifier.formats.refusal import FormatError
from verifier.model.origin import Origin

OPEN = -1
"""The size of a container whose parts are still being counted."""


def check_shape(value: object, origin: Origin, limits: Limits) -> None:
    """Refuse a value that contains itself (SM007), or is too deep or too large as a tree (SM006).

    Raises:
        FormatError: SM006, SM007.
    """
    sizes: dict[int, int] = {}
    heights: dict[int, int] = {}
    stack: list[tuple[object, Iterator[object]]] = []
    if _is_container(value):
        sizes[id(value)] = OPEN
        stack.append((value, _parts(value)))
    while stack:
        container, parts = stack[-1]
        child = next(
            (part for part in parts if _is_container(part) and sizes.get(id(part), OPEN) == OPEN), None
        )
        if child is not None:
            if id(child) in sizes:
                raise FormatError(
                    "SM007",
                    "a value in the pickle contains itself",
                    origin,
                    help="no map needs that; do not load this file, find out who wrote it",
                )
            sizes[id(child)] = OPEN
            stack.append((child, _parts(child)))
            continue
        stack.pop()
        size, height = 1, 1
        for part in _parts(container):
            size += sizes.get(id(part), 1) if _is_container(part) else 1
            height = max(height, 1 + heights.get(id(part), 0))
        if size > limits.nodes:
            raise _over(f"{size} values", limits.nodes, "values", origin)
        if height > limits.depth:
            raise _over(f"{height} levels of nesting", limits.depth, "levels", origin)
        sizes[id(container)], heights[id(container)] = size, height


def _over(found: str, limit: int, unit: str, origin: Origin) -> FormatError:
    return FormatError(
        "SM006",
        f"{found}, over the limit of {limit} {unit}",
        origin,
        help="no map needs as much; if you trust the file, save the map as JSON",
    )


def _is_container(value: object) -> bool:
    return isinstance(value, list | tuple | dict | Call)


def _parts(container: object) -> Iterator[object]:
    """The values directly inside a container; keys are leaves (see ``check_key``) and are not among them."""
    match container:
        case dict():
            yield from container.values()
        case list() | tuple():
            yield from container
        case Call():
            yield container.args
            yield container.state
