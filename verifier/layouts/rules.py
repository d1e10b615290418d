"""Rules that cut a size into one width for each part, in order; widths may be 0.

What does not divide is where real layouts differ, silently, and each rule is somebody's:

===============  =================================================================================
``even``         refuses a remainder
``chunk``        ``torch.chunk``, so DTensor and FSDP: parts of ceil(size / parts), then what is left
``floor_first``  DeepSpeed's AutoTP, ``numpy.array_split``: the first parts have one element more
``floor_last``   parts of floor(size / parts); the last one takes the remainder as well
===============  =================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from verifier.geometry.axis_parts import between, chunk_widths
from verifier.layouts.errors import BadLayout
from verifier.layouts.sizes import Size, require_count, require_multiple, require_size

Widths = tuple[Size, ...]
RuleName = Literal["even", "chunk", "floor_first", "floor_last"]


def even(size: Size, parts: int) -> Widths:
    """Equal widths.

    Raises:
        BadLayout: ``parts`` does not divide ``size``, or one of them is no such number.
    """
    _require(size, parts)
    return _even(size, parts)


def chunk(size: Size, parts: int) -> Widths:
    """The widths of ``torch.chunk``: each ceil(size / parts) while that lasts, then the rest, then 0.

    Five elements in four parts are 2, 2, 1, 0. (torch returns no empty chunks; DTensor adds them.)

    Raises:
        BadLayout: ``size`` or ``parts`` is no such number.
    """
    _require(size, parts)
    return chunk_widths(size, parts)


def floor_first(size: Size, parts: int) -> Widths:
    """Each floor(size / parts), and one more in the first ``size % parts`` parts: 2, 1, 1, 1 of five.

    Raises:
        BadLayout: ``size`` or ``parts`` is no such number.
    """
    _require(size, parts)
    return _floor_first(size, parts)


def floor_last(size: Size, parts: int) -> Widths:
    """Each floor(size / parts), and the remainder in the last part too: 1, 1, 1, 2 of five.

    Raises:
        BadLayout: ``size`` or ``parts`` is no such number.
    """
    _require(size, parts)
    return _floor_last(size, parts)


def require_rule(argument: str, rule: object) -> None:
    """Refuse what is no name of a rule.

    Raises:
        BadLayout: as said.
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise BadLayout(argument, f"is {rule!r}; give one of {', '.join(RULES)}")


def _require(size: Size, parts: int) -> None:
    require_size("size", size)
    require_count("parts", parts)


def _even(size: Size, parts: int) -> Widths:
    require_multiple("size", size, parts, "parts")
    return _floor_last(size, parts)


def _floor_first(size: Size, parts: int) -> Widths:
    if parts == 1:
        return (size,)
    width, more = size // parts, size % parts
    return between([0, *(part * width + min(part, more) for part in range(1, parts)), size])


def _floor_last(size: Size, parts: int) -> Widths:
    if parts == 1:
        return (size,)
    # The last width is what is left, also where that is no more than the others: then the widths add up to
    # ``size`` whatever it is, with nothing to be known of remainders.
    width = size // parts
    return (*[width] * (parts - 1), size - (parts - 1) * width)


RULES: dict[RuleName, Callable[[Size, int], Widths]] = {
    "even": _even,
    "chunk": chunk_widths,
    "floor_first": _floor_first,
    "floor_last": _floor_last,
}
"""Every rule by name, for sizes and counts that are known to be such."""
