"""The state dict of a torch optimizer in a file of torch.save.

Such a file names no parameter: state and groups are keyed by numbers, unless the optimizer was given names.
So what can be checked is that groups and state list the same parameters, that moments are complete and of one
shape, and, where full shapes are given, that as many parameters have the shape as there are moments of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from verifier.diagnostics.wording import counted
from verifier.formats.pickles.torch_values import scalar_in
from verifier.formats.pickles.torch_zip import TORCH, TensorHeader, read_storages, read_torch_zip
from verifier.formats.reading.document import Document, Refusal
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.torch_files.hyperparameters import Group, option_faults
from verifier.formats.torch_files.moment_values import (
    moments_wanted,
    uneven_steps,
    unread_moments,
    value_faults,
)
from verifier.formats.torch_files.moments import (
    ParameterState,
    missing_moments,
    parameter_state,
    uneven_moments,
    unfit,
    wrong_kinds_of_value,
)
from verifier.formats.torch_files.optimizer_kinds import fields_of, kinds_of
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
        options: what each group has beside them.
        names: the name of each key, where the file or the keys themselves say it.
    """

    states: Mapping[Key, ParameterState]
    groups: Sequence[Sequence[Key]]
    options: Sequence[Mapping[str, object]]
    names: Mapping[Key, str]

    def kept(self, group: Sequence[Key]) -> list[ParameterState]:
        """What is kept for the parameters of a group; one that is listed twice is its own fault."""
        return [self.states[key] for key in dict.fromkeys(group) if key in self.states]

    @property
    def told(self) -> list[Group]:
        """The groups, with the kinds of optimizer that they may be of."""
        return [
            Group(
                label=f"parameter group {place}",
                options=options,
                kinds=kinds_of(options, [one.names for one in self.kept(keys)]),
            )
            for place, (keys, options) in enumerate(zip(self.groups, self.options, strict=True))
        ]

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
    groups = state.told
    faults = [*_membership(state), *_moments(state, groups)]
    bare = _without_state(state, groups)
    unchecked = []
    if not state.names:
        unchecked.append("which parameters the numbers stand for: parameters of one shape could be exchanged")
    if request.shapes is None:
        unchecked.append("the shapes of the parameters: this file does not store them")
    else:
        faults.extend(_expected_states(state, bare, request.shapes))
        faults.extend(_against_shapes(state, request.shapes))
    if bare and not faults:
        lacking = _first([*map(state.label, bare)])
        unchecked.append(f"whether state was lost: {lacking} has none, as one that never had a gradient")
    strange = [group.label for group in groups if not group.kinds]
    if strange:
        unchecked.append(
            f"options and dtypes of {_first(strange)}: no optimizer of torch is known by such a group"
        )
    values = _Values(path, origin, request)
    values.read(state, groups)
    faults.extend(option_faults(groups, lambda header: scalar_in(header, values.storages)))
    states = list(state.states.values())
    faults.extend(value_faults(states, _known(state, groups), _fields(groups), values.storages))
    if request.values and not faults:
        unchecked.extend(uneven_steps(states, values.storages))
    return Document(
        file=origin.file,
        kind=KIND,
        refusals=tuple(values.refusals),
        faults=tuple(faults),
        checks={} if faults else _checks(state),
        unchecked=(*unchecked, *values.unchecked),
    )


def _first(labels: Sequence[str]) -> str:
    return f"{labels[0]} and {len(labels) - 1} more" if len(labels) > 1 else labels[0]


class _Values:
    """The values that are looked at: storages by their key, and what could not be read."""

    def __init__(self, path: Path, origin: Origin, request: Request) -> None:
        self.storages: dict[str, bytes] = {}
        self.refusals: list[Refusal] = []
        self.unchecked: list[str] = []
        self._path, self._origin, self._request = path, origin, request

    def read(self, state: OptimizerState, groups: Sequence[Group]) -> None:
        """Read what is wanted, if values are asked for."""
        states = list(state.states.values())
        fields = _fields(groups)
        options = [header for group in groups if group.kinds for header in group.tensors.values()]
        if not self._request.values:
            self.unchecked.append("steps and values of moments: no values were asked for")
            if options:
                self.unchecked.append("options that are tensors: no values were asked for")
            return
        self._load("options that are tensors", options)
        for what, headers in moments_wanted(states, fields):
            self._load(what, headers)
        unread = unread_moments(states, fields, self.storages)
        if unread and not self.unchecked and not self.refusals:
            self.unchecked.append(
                f"values of {counted(unread, 'moment')}: of a dtype or form that is not read"
            )

    def _load(self, what: str, headers: Sequence[TensorHeader]) -> None:
        wanted = {header.storage for header in headers} - self.storages.keys()
        try:
            self.storages.update(
                read_storages(self._path, self._origin, sorted(wanted), self._request.limits)
            )
        except FormatError as error:
            if error.code == "SM006":
                self.unchecked.append(f"{what}: {error.message}")
            else:
                self.refusals.append(Refusal.of(what, error))


def _fields(groups: Sequence[Group]) -> frozenset[str]:
    """Names of state beside the well-known ones, by the kinds of the groups."""
    return frozenset(name for group in groups for name in fields_of(group.kinds))


def _checks(state: OptimizerState) -> dict[str, int]:
    return {
        "grouped parameters": sum(map(len, state.groups)),
        "parameter states": len(state.states),
        "moments": sum(len(one.moments) for one in state.states.values()),
    }


def _decoded(value: Mapping[object, object], origin: Origin) -> OptimizerState:
    groups: list[Sequence[Key]] = []
    options: list[Mapping[str, object]] = []
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
        options.append({name: value for name, value in group.items() if isinstance(name, str)})
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
    return OptimizerState(states=states, groups=groups, options=options, names=names)


def _key(key: object, origin: Origin) -> Key:
    if isinstance(key, str) or type(key) is int:
        return key
    raise malformed(f"{shown(key)} is no number or name of a parameter", origin, "write the number it has")


def _label(key: Key, names: Mapping[Key, str]) -> str:
    return f"parameter {shown(names[key])}" if key in names else f"parameter {shown(key)}"


def _membership(state: OptimizerState) -> Iterator[Fault]:
    """Each parameter is in one group; each state is of one of them."""
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


def _without_state(state: OptimizerState, groups: Sequence[Group]) -> list[Key]:
    """The parameters without state where others have some, unless one has the state of all.

    One that never had a gradient has none: it is frozen, or in a module that nothing calls.
    """
    if not state.states or any(kind.at_first for group in groups for kind in group.kinds):
        return []
    return [key for key in dict.fromkeys(chain(*state.groups)) if key not in state.states]


def _expected_states(
    state: OptimizerState, bare: Sequence[Key], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[Fault]:
    """Expected parameters have state: each by name, or else as many as are expected."""
    named = [key for key in bare if state.names.get(key) in shapes]
    lacking = named if state.names else bare[: max(0, len(shapes) - len(state.states))]
    if lacking:
        yield unfit(
            state.label(lacking[0]),
            "has no state",
            stated=f"{len(state.states)} others have, {counted(len(shapes), 'parameter')} are expected",
            reason="training goes on with moments that are 0 for this one alone; expect no shape of a "
            "parameter that never had a gradient",
            count=len(lacking),
        )


def _moments(state: OptimizerState, groups: Sequence[Group]) -> Iterator[Fault]:
    for keys, group in zip(state.groups, groups, strict=True):
        yield from missing_moments(state.kept(keys))
        yield from wrong_kinds_of_value(state.kept(keys), fields_of(group.kinds))
    # Others keep moments of rows or blocks under the same names, as Adam-mini does.
    yield from uneven_moments(_known(state, groups))


def _known(state: OptimizerState, groups: Sequence[Group]) -> list[ParameterState]:
    """The states that an optimizer of torch keeps."""
    known = [keys for keys, group in zip(state.groups, groups, strict=True) if group.kinds]
    return [one for keys in known for one in state.kept(keys)]


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
