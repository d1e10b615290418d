"""The numbers of optimizer state, where they are read: counts of steps, signs, and what is not finite."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from verifier.formats.pickles.torch_values import (
    bytes_of,
    first_negative,
    first_not_finite,
    first_not_zero,
    scalar_in,
)
from verifier.formats.pickles.torch_zip import TensorHeader
from verifier.formats.reading.refusal import shown
from verifier.formats.torch_files.moments import AVERAGES, COUNTER, MOMENTS, SQUARES, ParameterState, unfit
from verifier.obligations.faults import Fault

Storages = Mapping[str, bytes]
States = Sequence[ParameterState]
Found = tuple[ParameterState, str, int, float]


def moments_wanted(states: States, fields: Collection[str]) -> Iterator[tuple[str, list[TensorHeader]]]:
    """What of the values is looked at, and the tensors it is in: moments, and the named fields."""
    tensors = [entry for one in states for entry in one.tensors.items()]
    yield "steps", [header for name, header in tensors if name == COUNTER and header.numel == 1]
    yield "values of second moments", [header for name, header in tensors if name in SQUARES]
    others = (MOMENTS | frozenset(fields)) - SQUARES
    yield "values of other moments", [header for name, header in tensors if name in others]


def unread_moments(states: States, fields: Collection[str], storages: Storages) -> int:
    """How many moments are of a dtype or form that cannot be looked into."""
    looked = MOMENTS | frozenset(fields)
    return sum(
        bytes_of(header, storages) is None
        for one in states
        for name, header in one.tensors.items()
        if name in looked
    )


def value_faults(
    states: States, known: States, fields: Collection[str], storages: Storages
) -> Iterator[Fault]:
    """CK116 for steps that are no counts or that moments contradict, and moments that no training makes."""
    yield from _steps(states, storages)
    yield from _set_back(known, storages)
    yield from _signs(states, storages)
    yield from _not_finite(states, MOMENTS | frozenset(fields), storages)


def uneven_steps(states: States, storages: Storages) -> Iterator[str]:
    """A remark where counts of steps differ.

    Parameters without a gradient are passed over: experts that no token was sent to, layers that were frozen
    for a while. So this is no fault.
    """
    taken = _taken(states, storages)
    usual, _ = Counter(step for _, step in taken).most_common(1)[0] if taken else (0.0, 0)
    other = [(one, step) for one, step in taken if step != usual]
    if other:
        one, step = other[0]
        yield (
            f"whether each parameter took the steps that it should: {one.label} is at step {step:g}, "
            f"{len(taken) - len(other)} others at step {usual:g}, as where a gradient is not always there "
            f"({len(other)} differ)"
        )


def _steps(states: States, storages: Storages) -> Iterator[Fault]:
    """Steps are counts; counters that are not read are not meant."""
    taken = _taken(states, storages)
    impossible = [(one, step) for one, step in taken if not math.isfinite(step) or step < 0]
    if impossible:
        one, step = impossible[0]
        yield unfit(
            one.label, f"is at step {step:g}", stated="steps are counted from 0", count=len(impossible)
        )


def _set_back(known: States, storages: Storages) -> Iterator[Fault]:
    """Before the first step averages are 0. Optimizers that are not known may count otherwise."""
    found = [
        (one, name, *moved)
        for one, step in _taken(known, storages)
        for name, header in (one.moments.items() if step == 0 else ())
        if name in AVERAGES and (moved := first_not_zero(header, storages)) is not None
    ]
    yield from _at_element(
        found,
        stated="its parameter is at step 0, before which averages are 0",
        reason="the bias corrections of the optimizer are those of another step",
    )


def _taken(states: States, storages: Storages) -> list[tuple[ParameterState, float]]:
    """The counts of steps that are there and that were read."""
    found: list[tuple[ParameterState, float]] = []
    for one in states:
        step: float | None = one.numbers.get(COUNTER)
        if step is None and COUNTER in one.tensors:
            step = scalar_in(one.tensors[COUNTER], storages)
        if step is not None:
            found.append((one, step))
    return found


def _signs(states: States, storages: Storages) -> Iterator[Fault]:
    found = [
        (one, name, *negative)
        for one in states
        for name, header in one.moments.items()
        if name in SQUARES and (negative := first_negative(header, storages)) is not None
    ]
    yield from _at_element(
        found,
        stated="averages of squares are never below 0",
        reason="its root is NaN in the next step; first and second moment may be exchanged",
    )


def _not_finite(states: States, names: Collection[str], storages: Storages) -> Iterator[Fault]:
    found = [
        (one, name, *strange)
        for one in states
        for name, header in sorted(one.tensors.items())
        if name in names and (strange := first_not_finite(header, storages)) is not None
    ]
    yield from _at_element(
        found,
        stated="optimizer state is finite",
        reason="the parameter is NaN, or stands still, from the next step on",
    )


def _at_element(found: Sequence[Found], *, stated: str, reason: str) -> Iterator[Fault]:
    """One fault for all that is wrong in the same way, with the first element of the first tensor."""
    if found:
        one, name, position, value = found[0]
        yield unfit(
            f"{shown(name)} of {one.label}",
            f"has {value:g} at its element {position}",
            stated=stated,
            reason=reason,
            count=len(found),
        )
