"""Which integers a map may hold: plain ones, small enough for a certificate about them to be checked."""

from __future__ import annotations

from collections.abc import Iterable

from verifier.geometry.integers import admitted
from verifier.geometry.strided import MOST_AXES, require_integers

NUMBER_LIMIT = 2**127
"""No tensor has such a number. Numbers of twice this size are refused where certificates are checked."""

RANK_LIMIT = 10**19
"""No job has as many processes. Wider rank keys are refused where certificates are checked."""


def require_small(what: str, values: tuple[int, ...]) -> None:
    """Refuse integers of NUMBER_LIMIT or more, of either sign; of an admitted type any number will do.

    Raises:
        ValueError: one of ``values`` is as large.
    """
    if admitted() is not None:
        values = tuple([value for value in values if type(value) is int])
    if values and (max(values) >= NUMBER_LIMIT or min(values) <= -NUMBER_LIMIT):
        raise ValueError(f"{what} holds a number of 2**127 or more; no tensor has such a number")


def require_distinct(what: str, values: tuple[int, ...]) -> None:
    """Refuse anything but a tuple of distinct plain integers from 0 on.

    Raises:
        TypeError: not a tuple of plain integers.
        ValueError: a number is negative, listed twice or too large.
    """
    if type(values) is not tuple or (values and {*map(type, values)} != {int}):
        require_integers(what, values)
    if not values:
        return
    require_small(what, values)
    if min(values) < 0:
        raise ValueError(f"{what} holds the negative number {min(values)}; count from 0")
    if len({*values}) != len(values):
        raise ValueError(f"{what} lists a number twice; list it once")


def require_shape(what: str, shape: tuple[int, ...]) -> None:
    """Refuse anything but a tuple of at most 64 plain integers from 0 on.

    Raises:
        TypeError: not a tuple of plain integers.
        ValueError: a dimension is negative or too large, or there are too many.
    """
    require_integers(what, shape)
    if len(shape) > MOST_AXES:
        raise ValueError(
            f"{what} has {len(shape)} dimensions, over the limit of {MOST_AXES}; merge dimensions"
        )
    require_small(what, shape)
    if any(n < 0 for n in shape):
        negative = next(n for n in shape if n < 0)
        raise ValueError(f"negative dimension {negative} in {what}; write 0 for an empty one")


def require_ranks(what: str, ranks: Iterable[int]) -> None:
    """Refuse keys that are no ranks: plain integers from 0 to below RANK_LIMIT.

    Raises:
        TypeError: a key is no plain int.
        ValueError: a key is negative or too large.
    """
    keys = tuple(ranks)
    require_integers(what, keys)
    if keys and min(keys) < 0:
        raise ValueError(f"negative rank in {what}; count ranks from 0")
    if keys and max(keys) >= RANK_LIMIT:
        raise ValueError(f"a rank of 10**19 or more in {what}; no job has as many processes")
