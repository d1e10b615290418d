"""The form of a state dict as torch makes them: all that a loader can compare with what it has itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import torch

State = dict[str, Any]
Form = tuple[Hashable, ...]


def has_torch_form(found: object) -> bool:
    """Whether it has ``state`` and ``param_groups`` with ``params``, as torch's own have."""
    if not isinstance(found, dict) or not isinstance(found.get("state"), dict):
        return False
    groups = found.get("param_groups")
    if not isinstance(groups, list) or not groups:
        return False
    return all(isinstance(group, dict) and isinstance(group.get("params"), list) for group in groups)


def looks_like(corrupted: State, good: Iterable[State]) -> bool:
    """Whether every part of it has the form that it has in one of these states of the same optimizer.

    States of several steps are to be given: a parameter whose first gradient is late has none yet, and a
    field may be made in a later step.
    """
    if not has_torch_form(corrupted):
        return False
    states = list(good)
    outer = {_outer(state) for state in states}
    entries = [_entries(state) for state in states]
    mine = _entries(corrupted)
    return _outer(corrupted) in outer and all(
        entry in {state[position] for state in entries} for position, entry in enumerate(mine)
    )


def _outer(state: State) -> Form:
    """Keys and flags of the groups, and how many parameters each has."""
    groups = [
        (
            len(group["params"]),
            tuple(sorted((str(k), v if isinstance(v, bool) else "") for k, v in group.items())),
        )
        for group in state["param_groups"]
    ]
    return tuple(sorted(map(str, state))), tuple(groups)


def _entries(state: State) -> list[Form]:
    """The form of each parameter's state, in the order of the groups."""
    ids = [key for group in state["param_groups"] for key in group["params"]]
    return [_entry(state["state"].get(key)) for key in ids]


def _entry(entry: object) -> Form:
    if not isinstance(entry, dict):
        return (type(entry).__name__,)
    return tuple(sorted((str(key), _field(value)) for key, value in entry.items()))


def _field(value: object) -> str:
    if isinstance(value, torch.Tensor):
        about = (value.dtype, value.layout, value.device.type, tuple(value.shape))
        return f"{type(value).__name__} {about}"
    return type(value).__name__
