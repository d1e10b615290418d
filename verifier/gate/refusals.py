"""Sizes of a domain for which a constructor raises: by name, by accident, or unlike its reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice

from verifier.gate.declared import Declaration
from verifier.gate.literals import call_text
from verifier.gate.loading import Loaded
from verifier.gate.raised import is_by_name
from verifier.gate.returned import returned_map
from verifier.symbolic.domain import Sizes
from verifier.symbolic.paths import Choice, Refusal
from verifier.symbolic.results import RefutedAt
from verifier.symbolic.search import Limits, compositions

_MOST_CLAIMS = 6


def refused_unlike_reference(
    loaded: Loaded, declaration: Declaration, refusals: Sequence[Refusal]
) -> RefutedAt | None:
    """The smallest sizes for which the constructor raises and its reference does not; None without any."""
    reference = declaration.reference_call
    if reference is None:
        return None
    for refusal in refusals:
        if refusal.sizes is None or not _differs(loaded.call, reference, refusal.sizes):
            continue
        smallest = _smallest(loaded.call, reference, declaration.over, refusal.choice)
        sizes = refusal.sizes if smallest is None else smallest
        complaint = f"raises {_raised(loaded.call, sizes)}, but its reference makes a map"
        return RefutedAt(sizes, None, None, complaint, smallest is not None, tuple(refusals))
    return None


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


def _smallest(
    constructor: Callable[..., object], reference: Callable[..., object], over: Sizes, choice: Choice
) -> Mapping[str, object] | None:
    """The first sizes by their sum, then in order, within the budget of a search."""
    for arguments in islice(_listed(over, choice), Limits().judged):
        if _differs(constructor, reference, arguments):
            return arguments
    return None


def _listed(over: Sizes, choice: Choice) -> Iterator[Mapping[str, object]]:
    atoms = over.atoms(choice)
    least = [one.least for one in atoms]
    totals = range(sum(least), Limits().total + 1)
    every = chain.from_iterable([compositions(total, least) for total in totals])
    for values in islice(every, Limits().points):
        point = {one.name: value for one, value in zip(atoms, values, strict=True)}
        arguments = over.filled(choice, lambda name, _, point=point: point[name])  # type: ignore[misc]
        if over.admits(arguments):
            yield arguments


def _differs(
    constructor: Callable[..., object], reference: Callable[..., object], arguments: Mapping[str, object]
) -> bool:
    """Whether the constructor raises and the reference makes a map."""
    if _error(constructor, arguments) is None:
        return False
    try:
        returned_map(reference(**arguments))
    except Exception:  # then neither makes one
        return False
    return True


def _error(constructor: Callable[..., object], arguments: Mapping[str, object]) -> Exception | None:
    try:
        constructor(**arguments)
    except Exception as error:  # the answer, not a failure of ours
        return error
    return None


def _raised(constructor: Callable[..., object], arguments: Mapping[str, object]) -> str:
    error = _error(constructor, arguments)
    return f"{type(error).__name__}: {error}"
