"""Strict access to the fields, lists and numbers of a document value. Each function refuses, none coerces."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import cast

from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.geometry.integers import admitted
from verifier.model.numbers import NUMBER_LIMIT, RANK_LIMIT
from verifier.model.origin import Origin
from verifier.model.piece import Scale, exact_scale

Interned = dict[tuple[int, ...], tuple[int, ...]]
"""Equal shapes, strides and locations are kept once: a map repeats them for every piece."""

MOST_INTERNED = 1024
"""Real maps have few distinct ones. Hostile ones may all share one hash, so the table stays small."""

RANK_CHARS = 19
"""Longer than any count of processes; wider numbers can be chosen to share one hash, too."""

_INTEGER = frozenset({int})

CANONICAL_RANK = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def interned_tuple(value: tuple[int, ...], interned: Interned) -> tuple[int, ...]:
    """An equal tuple that is kept once, as far as the table reaches; symbolic sizes have no hash."""
    if admitted() is not None:
        return value
    if len(interned) < MOST_INTERNED:
        return interned.setdefault(value, value)
    return interned.get(value, value)


def fields_of(
    value: object, origin: Origin, *, required: Sequence[str], optional: Sequence[str] = ()
) -> Mapping[str, object]:
    """The fields of an object that has all required ones and none that is not named.

    Raises:
        FormatError: SM002.
    """
    if not isinstance(value, dict):
        raise malformed(
            f"expected an object, found {shown(value)}", origin, f"write an object with {_listed(required)}"
        )
    if len(value) == len(required) and all(map(value.__contains__, required)):
        return value
    for key in value:
        if key not in required and key not in optional:
            known = _listed((*required, *optional))
            raise malformed(f"unknown field {shown(key)}", below(origin, key), f"the fields here are {known}")
    for key in required:
        if key not in value:
            raise malformed(
                f"the field {shown(key)} is missing", origin, f"the fields here are {_listed(required)}"
            )
    return value


def items_of(value: object, origin: Origin) -> Sequence[object]:
    """The items of a list.

    Raises:
        FormatError: SM002.
    """
    if not isinstance(value, list | tuple):
        raise malformed(f"expected a list, found {shown(value)}", origin, "write a list, in square brackets")
    return value


def integer(value: object, origin: Origin, *keys: str | int) -> int:
    """An exact integer, found at ``keys`` below ``origin``.

    Raises:
        FormatError: SM005 for a bool, a float or text; SM006 for 2**127 and beyond; SM002 for anything else.
    """
    if type(value) is int:
        if -NUMBER_LIMIT < value < NUMBER_LIMIT:
            return value
        raise too_large(origin.child(*keys))
    if type(value) is admitted():  # while a constructor is proved, a symbolic size is as good
        return cast(int, value)
    place = origin.child(*keys)
    if isinstance(value, bool | float | str):
        raise FormatError(
            "SM005",
            f"expected an integer, found {shown(value)}",
            place,
            help="write the exact integer, without quotes, point or exponent",
        )
    raise malformed(f"expected an integer, found {shown(value)}", place, "write an integer")


def integers(value: object, origin: Origin, *keys: str | int) -> tuple[int, ...]:
    """A list of exact integers, found at ``keys`` below ``origin``.

    Raises:
        FormatError: SM002, SM005 or SM006.
    """
    if (
        isinstance(value, list | tuple)
        and set(map(type, value)) <= _INTEGER
        and (not value or (max(value) < NUMBER_LIMIT and min(value) > -NUMBER_LIMIT))
    ):
        return tuple(value)
    place = origin.child(*keys)
    return tuple(integer(item, place, position) for position, item in enumerate(items_of(value, place)))


def address_list(value: object, origin: Origin, *keys: str | int, what: str) -> tuple[int, ...]:
    """Distinct integers from 0 on, in ascending order, found at ``keys`` below ``origin``.

    Raises:
        FormatError: SM002 for a negative or repeated one, SM005 for one that is no integer, SM006 for 2**127
            and beyond.
    """
    given = integers(value, origin, *keys)
    ascending = tuple(sorted(given))
    for low, high in itertools.pairwise(ascending):
        if low == high:
            second = given.index(low, given.index(low) + 1)
            raise malformed(
                f"{what} {shown(low)} is listed twice", origin.child(*keys, second), "list it once"
            )
    if ascending and ascending[0] < 0:
        place = origin.child(*keys, given.index(ascending[0]))
        raise malformed(f"{what} {shown(ascending[0])} is negative", place, "count from 0")
    return ascending


def number(value: object, origin: Origin) -> Scale:
    """A number as an exact rational; infinities and NaN, which only pickles hold, stay floats.

    Raises:
        FormatError: SM005 for a bool or text, SM006 for an integer of 2**127 and beyond, SM002 for anything
            else.
    """
    if type(value) is int:
        return exact_scale(integer(value, origin))
    if type(value) is float:
        return exact_scale(value)
    if isinstance(value, bool | str):
        raise FormatError(
            "SM005",
            f"expected a number, found {shown(value)}",
            origin,
            help="write the number without quotes",
        )
    raise malformed(f"expected a number, found {shown(value)}", origin, "write a number")


def truth(value: object, origin: Origin) -> bool:
    """A boolean.

    Raises:
        FormatError: SM002.
    """
    if isinstance(value, bool):
        return value
    raise malformed(f"expected true or false, found {shown(value)}", origin, "write true or false")


def name_text(value: object, origin: Origin, limits: Limits) -> str:
    """A name that can be shown: printable, of bounded length.

    Raises:
        FormatError: SM002, SM006.
    """
    if not isinstance(value, str):
        raise malformed(f"expected text, found {shown(value)}", origin, "write a text in quotes")
    if len(value) > limits.text_chars:
        raise FormatError(
            "SM006",
            f"a text of {len(value)} characters, over the limit of {limits.text_chars}",
            origin,
            help="shorten the name",
        )
    if not value.isprintable():
        raise malformed(f"the text {shown(value)} has characters that cannot be shown", origin, "rename it")
    return value


def rank_keys(value: object, origin: Origin) -> list[tuple[int, str | int, object]]:
    """The members of an object keyed by rank, as (rank, key as written, value), in the order given.

    Raises:
        FormatError: SM003 when two keys are read as one rank, SM002 for a key that is not a rank written
            plainly, SM005 for a key that is a bool or a float, SM006 for one that is too large.
    """
    if not isinstance(value, dict):
        raise malformed(f"expected an object, found {shown(value)}", origin, "write an object keyed by rank")
    seen: dict[int, object] = {}
    for key in value:
        rank = _rank_as_read(key, origin)
        if rank is None:
            continue
        if rank in seen:
            raise FormatError(
                "SM003",
                f"the keys {shown(seen[rank])} and {shown(key)} are both read as rank {rank}",
                below(origin, key),
                help="keep one of them; a reader that coerces keys keeps the last",
            )
        seen[rank] = key
    return [(_exact_rank(key, origin), key, item) for key, item in value.items()]


def _rank_as_read(key: object, origin: Origin) -> int | None:
    """The rank that a reader would see who coerces keys with int(); None when it would fail."""
    if type(key) is int:
        if key >= RANK_LIMIT:
            raise FormatError(
                "SM006",
                f"a rank key of {RANK_CHARS + 1} digits or more",
                origin,
                help="no job has as many processes; write the rank as a plain integer",
            )
        return key
    if not isinstance(key, str):
        raise FormatError(
            "SM005", f"rank key {shown(key)} is no integer", origin, help="write ranks as integers"
        )
    if len(key) > RANK_CHARS:
        raise FormatError(
            "SM006",
            f"a rank key of {len(key)} characters, over the limit of {RANK_CHARS}",
            origin,
            help="write the rank as a plain integer",
        )
    try:
        return int(key)
    except ValueError:
        return None


def _exact_rank(key: str | int, origin: Origin) -> int:
    if isinstance(key, str) and CANONICAL_RANK.fullmatch(key) is None:
        raise malformed(
            f"rank key {shown(key)} is no integer as one writes it",
            below(origin, key),
            "write the rank in decimal digits without sign, spaces or leading zeros",
        )
    rank = int(key)
    if rank < 0:
        raise malformed(f"negative rank {shown(rank)}", below(origin, key), "ranks count from 0")
    return rank


def too_large(origin: Origin) -> FormatError:
    """The refusal (SM006) of an integer that could be proved about but not checked."""
    return FormatError(
        "SM006",
        "an integer of 2**127 or more; no tensor has such a number",
        origin,
        help="write the number that was meant",
    )


def malformed(message: str, origin: Origin, help: str) -> FormatError:  # noqa: A002 - as in FormatError
    """The refusal (SM002) of a value that does not have the form its place demands."""
    return FormatError("SM002", message, origin, help=help)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
