"""One odd value in a document at a time, at a place drawn at random."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

ODD = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    1.0,
    10**30,
    -(10**5000),
    float("nan"),
    "",
    " x",
    "x ",
    "a\0b",
    "a\u200bb",
    "a\u00a0b",
    "a\x07b",
    "\ud800",
    "x" * 5000,
    "replicated",
    "false",
    [],
    {},
    [[]],
    {"x": 1},
    [1, "x"],
    ["replicated"],
    [True],
    [10**12],
)


def places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value below ``value``."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in entries:
        yield (*at, key)
        yield from places(item, (*at, key))


def value_at(document: Any, at: tuple[Any, ...]) -> Any:
    """The value at a place."""
    for key in at:
        document = document[key]
    return document


def with_value(document: object, at: tuple[Any, ...], value: object) -> Any:
    """A copy of the document with another value at one place."""
    changed = copy.deepcopy(document)
    value_at(changed, at[:-1])[at[-1]] = value
    return changed


def without(document: object, at: tuple[Any, ...]) -> Any:
    """A copy of the document without the value at one place."""
    changed = copy.deepcopy(document)
    del value_at(changed, at[:-1])[at[-1]]
    return changed


def damaged(rng: random.Random, document: object) -> Any:
    """A copy with one value replaced, removed, repeated, or an unknown member added."""
    at = rng.choice([*places(document)])
    holder = value_at(document, at[:-1])
    match rng.randrange(8):
        case 0:
            return without(document, at)
        case 1 if isinstance(holder, list):
            return with_value(document, (*at[:-1],), [*holder, copy.deepcopy(holder[at[-1]])])
        case 2 if isinstance(holder, dict):
            return with_value(document, (*at[:-1], "note"), rng.choice(ODD))
        case _:
            return with_value(document, at, rng.choice(ODD))
