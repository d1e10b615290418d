"""Sizes of a domain for which a constructor raises: by name, by accident, or unlike its reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from verifier.gate.literals import call_text
from verifier.gate.loading import Loaded
from verifier.gate.raised import is_by_name
from verifier.symbolic.paths import Refusal

_MOST_CLAIMS = 6


def not_by_name(loaded: Loaded, refusals: Sequence[Refusal]) -> list[Refusal]:
    """Those that are no refusals but accidents: other exceptions than a caller is meant to see."""
    return [
        one
        for one in refusals
        if one.sizes is not None
        and (error := _error(loaded.call, one.sizes)) is not None
        and not is_by_name(loaded, error)
    ]


def refusal_line(loaded: Loaded, refusal: Refusal) -> str:
    """``plans:cut raises where rows - 5 >= 0: ValueError: too many rows; e.g. at rows=5``."""
    example = "" if refusal.sizes is None else f"; e.g. at {call_text(refusal.sizes)}"
    return f"{loaded.where} raises {_where(refusal)}: {refusal.error}{example}"


def _where(refusal: Refusal) -> str:
    chosen = call_text(refusal.choice)
    if refusal.condition is None:
        return f"for some sizes{' of ' if chosen else ''}{chosen}"
    claims = [*map(str, refusal.condition[:_MOST_CLAIMS])]
    if len(refusal.condition) > _MOST_CLAIMS:
        claims.append("...")
    return f"where {' and '.join([*([chosen] if chosen else []), *claims]) or 'its domain holds'}"


def _error(constructor: Callable[..., object], arguments: Mapping[str, object]) -> Exception | None:
    try:
        constructor(**arguments)
    except Exception as error:  # the answer, not a failure of ours
        return error
    return None
