"""What layouts are built from: counts, which are plain integers, and sizes, which may be symbolic.

A count says how many ranks, segments, axes, blocks or experts there are, and so how many pieces. A size says
how long something is, in elements: a dimension, a width, a block. Layouts are proved for all sizes by running
them on symbolic ones, so a size is only added, subtracted, multiplied and compared, and divided by counts.
Each comparison may split a proof in two, so no size is compared more than it must be.
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.geometry.integers import admitted
from verifier.geometry.strided import MOST_AXES, require_integers
from verifier.layouts.errors import BadLayout, too_large
from verifier.model.numbers import require_small

Size = int
"""A number of elements along an axis: a plain int, or whatever else the model admits as one."""

MOST_PARTS = 2**20
"""No layout has more ranks, blocks or pieces."""


def require_size(argument: str, value: object, least: int = 0) -> None:
    """Refuse what is no size of at least ``least``; True, 4.0 and "4" are none.

    Raises:
        BadLayout: as said.
    """
    try:
        require_integers(argument, (value,))
    except TypeError:
        raise BadLayout(argument, f"is a {type(value).__name__}; give an integer") from None
    if value < least:  # type: ignore[operator]
        raise BadLayout(argument, f"is {value}; give {least} or more")
    with too_large(argument):
        require_small(argument, (value,))  # type: ignore[arg-type]


def require_sizes(argument: str, values: object) -> None:
    """Refuse what is no list or tuple of sizes.

    Raises:
        BadLayout: as said.
    """
    for place, value in enumerate(require_sequence(argument, values)):
        require_size(f"{argument}[{place}]", value)


def require_shape(argument: str, shape: object) -> None:
    """Refuse what is no list or tuple of at most 64 sizes.

    Raises:
        BadLayout: as said.
    """
    require_sizes(argument, shape)
    if len(require_sequence(argument, shape)) > MOST_AXES:
        raise BadLayout(argument, f"has more than {MOST_AXES} dimensions; merge some")


def require_count(argument: str, value: object, least: int = 1, most: int = MOST_PARTS) -> int:
    """The value; refuse what is no plain int from ``least`` to ``most``. Counts are never symbolic.

    Raises:
        BadLayout: as said.
    """
    if type(value) is not int:
        raise BadLayout(argument, f"is a {type(value).__name__}; give a plain int")
    if not least <= value <= most:
        raise BadLayout(argument, f"is {value}; give {least} to {most}")
    return value


def require_sequence(argument: str, values: object) -> Sequence[object]:
    """The values of a list or tuple; refuse anything else, text and iterators too.

    Raises:
        BadLayout: as said.
    """
    if not isinstance(values, (list, tuple)):
        raise BadLayout(argument, f"is a {type(values).__name__}; give a list or a tuple")
    return values


def require_axis(argument: str, axis: int, dimensions: int) -> int:
    """The axis counted from the first one; from the last one it counts -1, -2, ... as in torch.

    Raises:
        BadLayout: there is no such axis.
    """
    if dimensions == 0:
        raise BadLayout(argument, "is of a shape without dimensions; only a replicated layout has none")
    return require_count(argument, axis, least=-dimensions, most=dimensions - 1) % dimensions


def require_multiple(argument: str, size: Size, unit: int, of: str) -> None:
    """Refuse a size that is no multiple of a count.

    Raises:
        BadLayout: as said; ``of`` names what is counted.
    """
    if size % unit != 0:
        raise BadLayout(argument, f"is {size}, no multiple of the {unit} {of}")


def require_sum(argument: str, total: Size, size: Size, of: str) -> None:
    """Refuse sizes whose sum is not ``size``.

    Raises:
        BadLayout: as said; ``of`` names what ``size`` is.
    """
    if total != size:
        raise BadLayout(argument, f"add up to {total}, not to the {size} of {of}")


def known_empty(size: Size) -> bool:
    """True for the plain number 0. Symbolic sizes are not asked: an empty piece does no harm."""
    return admitted() is None and size == 0
