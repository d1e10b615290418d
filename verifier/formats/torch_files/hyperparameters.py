"""What the groups of a state dict say of the optimizer: options missing ones, and impossible values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from verifier.formats.pickles.plain_names import plain_number
from verifier.formats.pickles.torch_zip import TensorHeader, tensor_header
from verifier.formats.reading.refusal import shown
from verifier.formats.torch_files.moments import unfit
from verifier.formats.torch_files.optimizer_kinds import Kind
from verifier.obligations.faults import Fault

ROUNDING = 1e-12
"""A schedule that ends at 0 may end this far below it, by rounding alone."""

Number = int | float
Bounds = tuple[str, Callable[[Number], bool]]

_NOT_NEGATIVE: Bounds = ("it is never below 0", lambda value: value >= -ROUNDING)
_BOUNDS: Mapping[str, Bounds] = {
    **dict.fromkeys(
        (
            "lr",
            "eps",
            "weight_decay",
            "lr_decay",
            "momentum",
            "momentum_decay",
            "initial_accumulator_value",
        ),
        _NOT_NEGATIVE,
    ),
    "betas": ("each is at least 0 and below 1", lambda value: 0 <= value < 1),
    "rho": ("it is from 0 to 1", lambda value: 0 <= value <= 1),
}
"""What the constructors of torch take; they all agree, and loading a state dict asks none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A parameter group.

    Attributes:
        label: the group in messages.
        options: what it has beside its parameters.
        kinds: the kinds of optimizer that it may be of; none where that is not known.
    """

    label: str
    options: Mapping[str, object]
    kinds: Sequence[Kind]

    @property
    def tensors(self) -> Mapping[str, TensorHeader]:
        """Options that are kept as tensors, as a learning rate of a compiled step is, and have bounds."""
        headers = {name: tensor_header(self.options[name]) for name in _BOUNDS if name in self.options}
        return {name: header for name, header in headers.items() if header is not None}


def option_faults(
    groups: Sequence[Group], number_in: Callable[[TensorHeader], Number | None]
) -> Iterator[Fault]:
    """CK116 for each option that a group lacks, or whose value no constructor takes."""
    known = [group for group in groups if group.kinds]
    yield from _missing(known)
    wrong: dict[str, list[tuple[Group, str, str]]] = {}
    for group in known:
        for name in _BOUNDS:
            if any(name in kind.options for kind in group.kinds) and name in group.options:
                said = _impossible(name, group.options[name], number_in)
                if said is not None:
                    wrong.setdefault(name, []).append((group, *said))
    for name, places in wrong.items():
        group, found, stated = places[0]
        yield unfit(f"{shown(name)} of {group.label}", found, stated=stated, count=len(places))


def _missing(groups: Sequence[Group]) -> Iterator[Fault]:
    lacking: dict[str, list[Group]] = {}
    for group in groups:
        for name in sorted(frozenset.intersection(*[kind.reads for kind in group.kinds])):
            if name not in group.options:
                lacking.setdefault(name, []).append(group)
    for name, places in lacking.items():
        names = " and ".join(kind.name for kind in places[0].kinds)
        yield unfit(
            places[0].label,
            f"has no {shown(name)}",
            stated=f"every step of {names} reads it",
            reason="torch loads the state and fails in its first step",
            count=len(places),
        )


def _impossible(
    name: str, value: object, number_in: Callable[[TensorHeader], Number | None]
) -> tuple[str, str] | None:
    """What is wrong with a value, and what is right; None where nothing is, or nobody can tell."""
    stated, holds = _BOUNDS[name]
    header = tensor_header(value)
    if header is not None:
        value = number_in(header)
        if value is None:
            return None
    if value is None or isinstance(value, str | dict):
        return f"is {shown(value)}", "it is a number"
    for number in map(plain_number, value if isinstance(value, list | tuple) else (value,)):
        if not isinstance(number, int | float):  # None, where it is computed; or a record
            continue
        if not math.isfinite(number) or not holds(number):
            return f"is {number:g}", stated
    return None
