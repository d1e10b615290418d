"""Changes of the state of parameters in a state dict; False where there is nothing of the kind.

What is done to a tensor is done to the last field of the first parameter that has elements, what is done to
a counter to its step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from verifier.oracle.probes.torch_form import State

Entry = dict[str, Any]
Change = Callable[[State], bool]

COUNTERS = ("step", "n_iter")
SECOND_MOMENTS = ("exp_avg_sq", "square_avg", "sum", "variance", "row_var", "exp_inf", "step_size")
"""Fields that no step makes negative."""


def _first_key(state: State) -> Any:
    """The first parameter that has state; None where none has."""
    ids = {key for group in state["param_groups"] for key in group["params"]}
    return next((key for key in state["state"] if key in ids), None)


def _first_entry(state: State) -> Entry | None:
    """The state of that parameter."""
    entry = state["state"].get(_first_key(state))
    return entry if isinstance(entry, dict) and entry else None


def _tensor_key(entry: Entry, *, floating: bool = False) -> Any:
    """The last field with elements along some axis: a counter has none."""
    found = [
        key
        for key, value in entry.items()
        if isinstance(value, torch.Tensor)
        and value.dim()
        and value.numel()
        and value.layout == torch.strided
        and (value.is_floating_point() or not floating)
    ]
    return found[-1] if found else None


def _counter_key(entry: Entry) -> Any:
    """The field that counts steps."""
    return next((key for key in COUNTERS if key in entry), None)


def on_entry(change: Callable[[Entry], bool]) -> Change:
    """A change of the first parameter's state."""

    def apply(state: State) -> bool:
        entry = _first_entry(state)
        return entry is not None and change(entry)

    return apply


def on_tensor(make: Callable[[torch.Tensor], Any], *, floating: bool = False) -> Change:
    """A change of the last field with elements; with ``floating`` of the last with floating-point numbers."""

    def apply(entry: Entry) -> bool:
        key = _tensor_key(entry, floating=floating)
        if key is None:
            return False
        entry[key] = make(entry[key])
        return True

    return on_entry(apply)


def on_step(value: Any) -> Change:
    """Put this into the place of the counter."""

    def apply(entry: Entry) -> bool:
        key = _counter_key(entry)
        if key is None:
            return False
        entry[key] = copy.deepcopy(value)
        return True

    return on_entry(apply)


def drop_entry(state: State) -> bool:
    """One parameter has no state."""
    key = _first_key(state)
    if key is None:
        return False
    del state["state"][key]
    return True


def unknown_entry(state: State) -> bool:
    """State of a parameter that nobody has."""
    entry = _first_entry(state)
    if entry is None:
        return False
    state["state"][99] = copy.deepcopy(entry)
    return True


def drop_all(state: State) -> bool:
    """No parameter has a state."""
    state["state"] = {}
    return True


def drop_tensor(entry: Entry) -> bool:
    """A field is missing."""
    key = _tensor_key(entry)
    return key is not None and entry.pop(key) is not None


def drop_step(entry: Entry) -> bool:
    """The counter is missing."""
    key = _counter_key(entry)
    return key is not None and entry.pop(key) is not None


def extra_key(entry: Entry) -> bool:
    """A field that nobody knows."""
    entry["unknown"] = torch.zeros(3)
    return True


def filled(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """One element of another value."""

    def make(tensor: torch.Tensor) -> torch.Tensor:
        changed = tensor.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[0] = value
        return changed

    return make


def negative_moment(entry: Entry) -> bool:
    """A second moment below zero."""
    for key in SECOND_MOMENTS:
        value = entry.get(key)
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            entry[key] = -value.abs() - 1
            return True
    return False


def uneven_steps(entry: Entry) -> bool:
    """One parameter has taken more steps than the others."""
    key = _counter_key(entry)
    if key is None:
        return False
    entry[key] = torch.tensor(7.0) if isinstance(entry[key], torch.Tensor) else 7
    return True


def entry_none(state: State) -> bool:
    """None in the place of a parameter's state."""
    key = _first_key(state)
    if key is None:
        return False
    state["state"][key] = None
    return True
