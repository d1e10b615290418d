"""The state dict of a torch optimizer in a file of torch.save.

Such a file names no parameter: state and groups are keyed by numbers, unless the optimizer was given names.
So what can be checked is that groups and state list the same parameters, that moments are complete and of one
shape, and, where full shapes are given, that as many parameters have the shape as there are moments of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verifier.diagnostics.wording import counted
from verifier.formats.pickles.torch_values import first_negative, scalar_in
from verifier.formats.pickles.torch_zip import TORCH, read_storages, read_torch_zip
from verifier.formats.reading.document import Document, Refusal
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.torch_files.moments import (
    COUNTER,
    SQUARES,
    ParameterState,
    missing_moments,
    parameter_state,
    uneven_moments,
    unfit,
)
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

KIND = "optimizer-state"
STATE = "state"
GROUPS = "param_groups"
PARAMS = "params"
NAMES = "param_names"

Key = int | str
Storages = Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerState:
    """A state dict.

    Attributes:
        states: what is kept for each parameter, by its key.
        groups: the keys of each parameter group.
        names: the name of each key, where the file or the keys themselves say it.
    """

    states: Mapping[Key, ParameterState]
    groups: Sequence[Sequence[Key]]
    names: Mapping[Key, str]

    def label(self, key: Key) -> str:
        """A parameter in messages."""
        return _label(key, self.names)


def is_optimizer_state(value: object) -> bool:
    """Whether a value is a state dict of an optimizer."""
    return isinstance(value, dict) and isinstance(value.get(STATE), dict) and GROUPS in value


def read_optimizer_file(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a file that holds the state dict of an optimizer.

    Raises:
        FormatError: SM001, SM002, SM003, SM006 or SM007.
    """
    value = read_torch_zip(path, origin, request.limits, TORCH)
    return optimizer_document(value, path, origin, request)


def optimizer_document(value: object, path: Path, origin: Origin, request: Request) -> Document:
    """The document of a state dict that was read from ``path``.

    Raises:
        FormatError: SM001 or SM002.
    """
    if not isinstance(value, dict) or not is_optimizer_state(value):
        raise FormatError(
            "SM001",
            "no state dict of an optimizer is in this file",
            origin,
            help=f"it has the keys {STATE} and {GROUPS}",
        )
    state = _decoded(value, origin)
    faults = [*_membership(state), *_moments(state)]
    unchecked = []
    if not state.names:
        unchecked.append("which parameters the numbers stand for: parameters of one shape could be exchanged")
    if request.shapes is None:
        unchecked.append("the shapes of the parameters: this file does not store them")
    else:
        faults.extend(_against_shapes(state, request.shapes))
    refusals: list[Refusal] = []
    storages: dict[str, bytes] = {}
    if not request.values:
        unchecked.append("steps and signs of second moments: no values were asked for")
    for what, wanted in _wanted(state) if request.values else ():
        try:
            storages.update(read_storages(path, origin, wanted, request.limits))
        except FormatError as error:
            if error.code == "SM006":
                unchecked.append(f"{what}: {error.message}")
            else:
                refusals.append(Refusal.of(what, error))
    faults.extend(_steps(state, storages))
    faults.extend(_signs(state, storages))
    return Document(
        file=origin.file,
        kind=KIND,
        refusals=tuple(refusals),
        faults=tuple(faults),
        checks={} if faults else _checks(state),
        unchecked=tuple(unchecked),
    )


def _checks(state: OptimizerState) -> dict[str, int]:
    return {
        "grouped parameters": sum(map(len, state.groups)),
        "parameter states": len(state.states),
        "moments": sum(len(one.moments) for one in state.states.values()),
    }


def _decoded(value: Mapping[object, object], origin: Origin) -> OptimizerState:
    groups: list[Sequence[Key]] = []
    names: dict[Key, str] = {}
    listed = value[GROUPS]
    if not isinstance(listed, list | tuple):
        raise malformed(f"{GROUPS} is {shown(listed)}", origin.child(GROUPS), "write a list of groups")
    for place, group in enumerate(listed):
        here = origin.child(GROUPS, place)
        params = group.get(PARAMS) if isinstance(group, dict) else None
        if not isinstance(params, list | tuple):
            raise malformed(
                f"the group has {shown(params)} for {PARAMS}", here, "list the numbers of its parameters"
            )
        keys = [_key(key, here.child(PARAMS)) for key in params]
        groups.append(keys)
        given = group.get(NAMES)
        if isinstance(given, list | tuple) and len(given) == len(keys):
            names.update({key: name for key, name in zip(keys, given, strict=True) if isinstance(name, str)})
    names.update({key: key for keys in groups for key in keys if isinstance(key, str)})
    stored = value[STATE]
    states: dict[Key, ParameterState] = {}
    for key, fields in stored.items() if isinstance(stored, dict) else ():
        here = origin.child(STATE)
        if not isinstance(fields, dict):
            raise malformed(f"the state of {shown(key)} is {shown(fields)}", here, "write an object")
        exact = _key(key, here)
        states[exact] = parameter_state(_label(exact, names), fields)
    return OptimizerState(states=states, groups=groups, names=names)


def _key(key: object, origin: Origin) -> Key:
    if isinstance(key, str) or type(key) is int:
        return key
    raise malformed(f"{shown(key)} is no number or name of a parameter", origin, "write the number it has")


def _label(key: Key, names: Mapping[Key, str]) -> str:
    return f"parameter {shown(names[key])}" if key in names else f"parameter {shown(key)}"


def _membership(state: OptimizerState) -> Iterator[Fault]:
    """Each parameter is in one group; each state is of one of them; all of them have state, or none."""
    times = Counter(key for group in state.groups for key in group)
    strays = [key for key in state.states if key not in times]
    if strays:
        yield unfit(
            f"the state of {state.label(strays[0])}",
            "belongs to no group",
            stated=f"{GROUPS} lists {len(times)} others",
            count=len(strays),
        )
    twice = [key for key, often in times.items() if often > 1]
    if twice:
        yield unfit(state.label(twice[0]), f"is listed {times[twice[0]]} times in {GROUPS}", count=len(twice))
    bare = [key for key in times if key not in state.states]
    if bare and state.states:
        yield unfit(
            state.label(bare[0]),
            "has no state",
            stated=f"{len(state.states)} others have",
            reason="training goes on with moments that are 0 for this one alone; only a parameter that never "
            "had a gradient has none",
            count=len(bare),
        )


def _moments(state: OptimizerState) -> Iterator[Fault]:
    for group in state.groups:
        # A parameter that is listed twice is its own fault.
        yield from missing_moments([state.states[key] for key in dict.fromkeys(group) if key in state.states])
    yield from uneven_moments(list(state.states.values()))


def _against_shapes(state: OptimizerState, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Fault]:
    """Moments have the shapes of parameters: each by name, or else no shape more often than parameters."""
    places: dict[tuple[int, ...], list[ParameterState]] = {}
    wrong: list[tuple[ParameterState, str]] = []
    for key, one in state.states.items():
        header = next(iter(one.moments.values()), None)
        if header is None:
            continue
        name = state.names.get(key)
        if name is not None:
            if header.shape != shapes.get(name, header.shape):
                wrong.append((one, f"the parameter has {shapes[name]}"))
        else:
            places.setdefault(header.shape, []).append(one)
    there = Counter(shapes.values())
    for shape, having in places.items():
        if len(having) > there[shape]:
            stated = (
                f"the model has {counted(there[shape], 'parameter')} of that shape, "
                f"this file {counted(len(having), 'state')}"
            )
            wrong.extend((one, stated) for one in having[there[shape] :])
    if wrong:
        one, stated = wrong[0]
        name, header = next(iter(one.moments.items()))
        found = f"has shape {header.shape}"
        yield unfit(f"{shown(name)} of {one.label}", found, stated=stated, count=len(wrong))


def _wanted(state: OptimizerState) -> Iterator[tuple[str, list[str]]]:
    """What of the values is looked at, and the storages it is in."""
    tensors = [entry for one in state.states.values() for entry in one.tensors.items()]
    yield "steps", [header.storage for name, header in tensors if name == COUNTER and header.numel == 1]
    yield "signs of second moments", [header.storage for name, header in tensors if name in SQUARES]


def _steps(state: OptimizerState, storages: Storages) -> Iterator[Fault]:
    """All parameters have taken as many steps; those whose counter is not read are not meant."""
    taken = [
        (one, step)
        for one in state.states.values()
        if (step := _step(one, lambda header: scalar_in(header, storages))) is not None
    ]
    usual, _ = Counter(step for _, step in taken).most_common(1)[0] if taken else (0.0, 0)
    late = [(one, step) for one, step in taken if step != usual]
    if late:
        one, step = late[0]
        yield unfit(
            one.label,
            f"is at step {step:g}",
            stated=f"{len(taken) - len(late)} others are at step {usual:g}",
            count=len(late),
            reason="the bias corrections of the optimizer are those of another step",
        )


def _step(one: ParameterState, read: Callable[..., float | None]) -> float | None:
    if COUNTER in one.numbers:
        return one.numbers[COUNTER]
    return read(one.tensors[COUNTER]) if COUNTER in one.tensors else None


def _signs(state: OptimizerState, storages: Storages) -> Iterator[Fault]:
    found = [
        (one, name, negative)
        for one in state.states.values()
        for name, header in one.moments.items()
        if name in SQUARES and (negative := first_negative(header, storages)) is not None
    ]
    if found:
        one, name, (position, value) = found[0]
        yield unfit(
            f"{shown(name)} of {one.label}",
            f"has {value:g} at its element {position}",
            stated="averages of squares are never below 0",
            reason="its root is NaN in the next step; first and second moment may be exchanged",
            count=len(found),
        )
