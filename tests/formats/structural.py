"""Values with one container in them changed, as no change of bytes makes them: what is a dict stays one.

A pickle whose bytes are changed is mostly no pickle any more. Here each dict, list, tuple and record of an
unpickled value is in turn emptied, loses an item, has one twice, or is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

from torch.distributed.checkpoint.metadata import TensorProperties

FEW = 5
"""Of as many items each is changed."""
OPAQUE = (type, Enum, TensorProperties)
"""What pickles itself in a way of its own: it is only taken away."""


def variants(value: Any) -> Iterator[Any]:
    """Copies of a value, each with one change at one place; of many items the first and the last change."""
    yield None
    if isinstance(value, dict):
        yield from _of_dict(value)
    elif isinstance(value, list | tuple):
        yield from _of_sequence(value, type(value))
    elif hasattr(value, "__dict__") and not isinstance(value, OPAQUE):
        for state in _of_dict(vars(value)):
            if isinstance(state, dict) and all(isinstance(name, str) for name in state):
                yield _record(type(value), state)


def _of_dict(value: Mapping[Any, Any]) -> Iterator[Any]:
    items = [*value.items()]
    yield {}
    for at in _some(len(items)):
        key, item = items[at]
        yield dict(items[:at] + items[at + 1 :])
        for other in variants(item):
            yield dict([*items[:at], (key, other), *items[at + 1 :]])
        if not isinstance(key, str):
            yield from (dict([*items[:at], (other, item), *items[at + 1 :]]) for other in variants(key))
            yield dict([*items, (_again(key), item)])


def _of_sequence(value: Any, make: Callable[[Any], Any]) -> Iterator[Any]:
    items = [*value]
    yield make([])
    for at in _some(len(items)):
        yield make(items[:at] + items[at + 1 :])
        yield make([*items, items[at]])
        if not isinstance(items[at], int | str):
            yield from (make([*items[:at], other, *items[at + 1 :]]) for other in variants(items[at]))


def _again(key: Any) -> Any:
    """An equal key that is another object."""
    return _record(type(key), vars(key)) if hasattr(key, "__dict__") else key


def _record(kind: type, state: Mapping[str, Any]) -> Any:
    """A record with these fields and no others."""
    record: Any = object.__new__(kind)
    vars(record).update(state)
    return record


def _some(count: int) -> range:
    """The positions of all fields of a record; of many items the first and the last."""
    return range(count) if count <= FEW else range(0, count, count - 1)
