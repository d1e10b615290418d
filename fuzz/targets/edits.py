"""Edits of JSON values and of bytes, chosen by a source of random numbers."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

Place = tuple[Any, Any]
"""A list or object, and the position or key of one of its members."""

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        7,
        2**31,
        2**53 + 1,
        2**63 - 1,
        2**63,
        2**126,
        2**127,
        2**128,
        -(2**64),
    ),
    *(0.0, 0.5, -0.0, 1e300, 4.0, float("inf"), float("nan")),
    *("", "0", "1", "-1", "01", "1/2", "-1/1", "1/0", "0/1", "inf", "1e5", "\u0661", "\ud800", "a\nb"),
    *([], {}, [0], [0, [1]], {"0": []}, [[[[]]]], {"form": "cancellation"}, {"form": "pairs", "work": 10**9}),
)
"""What does not belong where it is put, mostly."""


def edited(rng: random.Random, value: Any, edits: int) -> Any:
    """A copy of a JSON value with that many edits, fewer where nothing is left to edit."""
    root = [copy.deepcopy(value)]
    for _ in range(edits):
        places = list(_places(root))
        if places:
            _edit(rng, places, rng.choice(places))
    return root[0] if root else None


def _places(value: Any) -> Iterator[Place]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield value, key
        if isinstance(member, dict | list):
            yield from _places(member)


def _edit(rng: random.Random, places: list[Place], place: Place) -> None:
    """One edit: a number moved, a member replaced, exchanged, dropped, doubled, or its key changed."""
    holder, key = place
    member = holder[key]
    match rng.randrange(6):
        case 0 if type(member) is int:
            holder[key] = member + rng.choice((-2, -1, 1, 2, 3, 8, 2**32))
        case 1:
            other, at = rng.choice(places)
            holder[key] = copy.deepcopy(other[at])
        case 2:
            del holder[key]
        case 3 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(member))
        case 3:
            holder[rng.choice(("0", "1", "2", "scale", "cover", "x", f"{key} "))] = copy.deepcopy(member)
        case 4 if isinstance(holder, list):
            other_at = rng.randrange(len(holder))
            holder[key], holder[other_at] = holder[other_at], holder[key]
        case 4:
            holder[rng.choice(("0", "7", "version", "lookup", ""))] = holder.pop(key)
        case _:
            holder[key] = copy.deepcopy(rng.choice(ODD))


def edited_bytes(rng: random.Random, data: bytes, edits: int) -> bytes:
    """The bytes with that many edits: one changed, a slice dropped, repeated or exchanged for another."""
    for _ in range(edits):
        if not data:
            return data
        start = rng.randrange(len(data))
        stop = min(len(data), start + 1 + rng.getrandbits(8))
        match rng.randrange(4):
            case 0:
                data = data[:start] + bytes([rng.getrandbits(8)]) + data[start + 1 :]
            case 1:
                data = data[:start] + data[stop:]
            case 2:
                data = data[:stop] + data[start:]
            case _:
                to = rng.randrange(len(data))
                data = data[:to] + data[start:stop] + data[to:]
    return data
