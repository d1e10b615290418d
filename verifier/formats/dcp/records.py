"""Looking into the records of an unpickled metadata file, which are inert calls or stubs.

What is asked of a million records at once is asked in C code: by ``map`` over functions of ``operator``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import cast

from verifier.formats.dcp.stubs import Stub
from verifier.formats.pickles.records import Call, Name
from verifier.formats.pickles.torch_zip import SIZE

SAVE_AGAIN = "write the checkpoint again with torch.distributed.checkpoint"
_FIRST = itemgetter(0)

State = Mapping[object, object]
"""The fields of a record."""


def kind_of(value: object) -> Name | None:
    """The class of a record; None for anything else."""
    return value.function if isinstance(value, (Stub, Call)) else None


def given_state(value: object) -> object:
    """The state that a record was given; None for none, or several."""
    if isinstance(value, Stub):
        return value[0] if len(value) == 1 else None
    return value.state if isinstance(value, Call) else None


def state_of(value: object, kind: Name) -> State | None:
    """The fields of a record of one class; None when the value is something else."""
    state = given_state(value) if kind_of(value) == kind else None
    return state if isinstance(state, dict) else None


def states_of(values: Sequence[object], kind: Name) -> list[State] | None:
    """The fields of many records of one class; None when one of them is something else."""
    types = {*map(type, values)}
    if len(types) != 1 or not issubclass(next(iter(types)), Stub):
        states = [state_of(value, kind) for value in values]
        return None if None in states else states  # type: ignore[return-value]
    if kind_of(values[0]) != kind or {*map(len, values)} != {1}:  # type: ignore[arg-type]
        return None
    found = list(map(_FIRST, values))  # type: ignore[arg-type]
    return found if {*map(type, found)} == {dict} else None


def field_of(states: Iterable[State], key: str) -> list[object] | None:
    """One field of many records, which all must have; None when one has not."""
    try:
        return list(map(itemgetter(key), states))
    except KeyError:
        return None


def texts_of(states: Iterable[State], key: str) -> list[str] | None:
    """``field_of`` where it is text in all; None where it is not."""
    found = field_of(states, key)
    return None if found is None or not {*map(type, found)} <= {str} else cast(list[str], found)


def integers_of(states: Iterable[State], key: str) -> list[int] | None:
    """``field_of`` where it is a plain integer in all; None where it is not."""
    found = field_of(states, key)
    return cast(list[int], found) if found is not None and are_integers(found) else None


def reference_of(value: object) -> Name | None:
    """What a reference refers to; None for anything else."""
    if isinstance(value, Name):
        return value
    return value.function if isinstance(value, type) and issubclass(value, Stub) else None


def numbers_of(value: object) -> tuple[int, ...] | None:
    """The numbers of a torch.Size, whose types and signs are not looked at; None when it is none."""
    if isinstance(value, Call) and value.function == SIZE and len(value.args) == 1:
        value = value.args[0]
    if isinstance(value, tuple):
        return value
    return tuple(value) if type(value) is list else None


def all_numbers(values: Sequence[object]) -> list[tuple[int, ...]] | None:
    """``numbers_of`` many values; None when one is no size."""
    if all(issubclass(kind, tuple) for kind in {*map(type, values)}):
        return list(values)  # type: ignore[arg-type]
    numbers = [numbers_of(value) for value in values]
    return None if None in numbers else numbers  # type: ignore[return-value]


def are_integers(values: Iterable[object]) -> bool:
    """Whether all are plain integers: no bool, no subclass."""
    return {*map(type, values)} <= {int}
