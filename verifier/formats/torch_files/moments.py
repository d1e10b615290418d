"""The state that torch's optimizers keep for a parameter, and how it has to fit the parameter and itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from verifier.formats.pickles.plain_names import plain_number
from verifier.formats.pickles.torch_zip import TensorHeader, tensor_header
from verifier.formats.reading.refusal import shown
from verifier.obligations.faults import Count, Fault, Value

SQUARES = frozenset({"exp_avg_sq", "max_exp_avg_sq", "square_avg", "acc_delta", "sum"})
"""Averages and sums of squares: never below 0."""

MOMENTS = SQUARES | {"exp_avg", "exp_inf", "momentum_buffer", "grad_avg", "prev", "step_size", "ax"}
"""Tensors of the shape of their parameter, by the names that torch's optimizers give them. Others, such as
the factors of Adafactor or quantised moments, have shapes of their own."""

AVERAGES = (SQUARES - {"sum"}) | {"exp_avg", "exp_inf", "grad_avg"}
"""What is 0 before the first step. Adagrad's sum begins where its options say."""

COUNTER = "step"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterState:
    """What an optimizer keeps for one parameter.

    Attributes:
        label: the parameter in messages: its name or number, safe to print.
        tensors: headers of the tensors by name.
        numbers: the plain numbers by name.
        names: of all that is kept, whatever it is.
    """

    label: str
    tensors: Mapping[str, TensorHeader]
    numbers: Mapping[str, int | float]
    names: frozenset[str]

    @property
    def known(self) -> frozenset[str]:
        """The names whose meaning is known: moments, and the counter of steps."""
        return frozenset(self.tensors.keys() | self.numbers.keys()) & (MOMENTS | {COUNTER})

    @property
    def moments(self) -> dict[str, TensorHeader]:
        """The tensors that have the shape of the parameter, sorted by name."""
        return {name: self.tensors[name] for name in sorted(self.tensors) if name in MOMENTS}


def parameter_state(label: str, fields: Mapping[object, object]) -> ParameterState:
    """The state in one entry of ``state``; of values that are no tensors or numbers the name is kept."""
    tensors: dict[str, TensorHeader] = {}
    numbers: dict[str, int | float] = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            continue
        value = plain_number(value)
        header = tensor_header(value)
        if header is not None:
            tensors[name] = header
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[name] = value
    names = frozenset(name for name in fields if isinstance(name, str))
    return ParameterState(label=label, tensors=tensors, numbers=numbers, names=names)


def unfit(what: str, found: str, *, count: int = 1, **more: Value) -> Fault:
    """CK116: optimizer state that does not fit; ``count`` is how many parameters have the same fault."""
    counted = Count(count, exact=True) if count > 1 else None
    return Fault(code="CK116", side="map", count=counted, values={"what": what, "found": found, **more})


def missing_moments(group: Sequence[ParameterState]) -> Iterator[Fault]:
    """States of a parameter group that have only a part of what another one of the group has.

    Optimizers that keep different state for different shapes have names of both kinds, none a part of the
    other, and are not meant.
    """
    fullest = max(group, key=lambda state: len(state.known), default=None)
    if fullest is None:
        return
    # A name of its own, such as a factor of Adafactor, tells of another kind of state.
    short = [state for state in group if state.known < fullest.known and state.names <= fullest.names]
    if short:
        lacking = sorted(fullest.known - short[0].known)
        yield unfit(
            f"the state of {short[0].label}",
            f"has no {_listed(lacking)}",
            stated=f"that of {fullest.label} in the same group has",
            count=len(short),
        )


def uneven_moments(states: Sequence[ParameterState]) -> Iterator[Fault]:
    """States whose moments have two shapes: each has the shape of the one parameter."""
    uneven = [state for state in states if len({header.shape for header in state.moments.values()}) > 1]
    if uneven:
        moments = uneven[0].moments
        (first, one), *others = moments.items()
        second, other = next((name, header) for name, header in others if header.shape != one.shape)
        yield unfit(
            f"{shown(second)} of {uneven[0].label}",
            f"has shape {other.shape}",
            stated=f"its {shown(first)} has {one.shape}",
            count=len(uneven),
        )


_NO_FRACTIONS = ("int", "uint", "qint", "quint", "bool")
"""How dtypes begin that hold no fractions; a moment in one of them was cut to whole numbers."""


def wrong_kinds_of_value(group: Sequence[ParameterState], fields: Mapping[str, str]) -> Iterator[Fault]:
    """Fields that are kept as what they cannot be: as whole numbers, or as one number.

    Args:
        group: the states of a parameter group.
        fields: the names of tensors of many numbers, and the dtype that the optimizer declares.
    """
    wrong: dict[str, list[tuple[ParameterState, str]]] = {}
    for one in group:
        for name, dtype in fields.items():
            header = one.tensors.get(name)
            if name in one.numbers:
                wrong.setdefault(name, []).append((one, f"is the number {one.numbers[name]:g}"))
            elif header and header.dtype.startswith(_NO_FRACTIONS) and not dtype.startswith(_NO_FRACTIONS):
                wrong.setdefault(name, []).append((one, f"is {header.dtype}"))
    for name, places in wrong.items():
        one, found = places[0]
        yield unfit(
            f"{shown(name)} of {one.label}",
            found,
            stated="it is a tensor of floating-point numbers",
            reason="torch loads it all the same",
            count=len(places),
        )


def _listed(names: Sequence[str]) -> str:
    return " and no ".join(shown(name) for name in names)
