"""Changes of the groups in a state dict, and of the dict itself; False where there is nothing of the kind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from verifier.oracle.probes.changes_of_state import Change
from verifier.oracle.probes.torch_form import State


def on_group(change: Callable[[dict[str, Any]], bool]) -> Change:
    """A change of the first group."""
    return lambda state: change(state["param_groups"][0])


def option(key: str, value: Any) -> Change:
    """Another value for an option that is there."""

    def apply(group: dict[str, Any]) -> bool:
        if key not in group:
            return False
        group[key] = value
        return True

    return on_group(apply)


def without(key: str) -> Change:
    """An option is missing."""
    return on_group(lambda group: group.pop(key, None) is not None)


def no_state(state: State) -> bool:
    """There is no ``state``."""
    del state["state"]
    return True


def no_groups(state: State) -> bool:
    """There is no ``param_groups``."""
    del state["param_groups"]
    return True


def drop_group(state: State) -> bool:
    """The last group is missing."""
    state["param_groups"].pop()
    return True


def add_group(state: State) -> bool:
    """The last group is there twice."""
    state["param_groups"].append(copy.deepcopy(state["param_groups"][-1]))
    return True


def fewer_parameters(state: State) -> bool:
    """The last parameter of the first group is missing."""
    ids = state["param_groups"][0]["params"]
    return bool(ids) and ids.pop() is not None


def more_parameters(state: State) -> bool:
    """The first group has a parameter more."""
    state["param_groups"][0]["params"].append(77)
    return True


def swap_groups(state: State) -> bool:
    """The first two groups have each other's parameters."""
    groups = state["param_groups"]
    if len(groups) < 2 or len(groups[0]["params"]) != len(groups[1]["params"]):
        return False
    groups[0]["params"], groups[1]["params"] = groups[1]["params"], groups[0]["params"]
    return True


def swap_ids(group: int, one: int, two: int) -> Change:
    """Two parameters of one group have each other's place."""

    def apply(state: State) -> bool:
        ids = state["param_groups"][group]["params"]
        if len(ids) < 2:
            return False
        ids[one], ids[two] = ids[two], ids[one]
        return bool(state["state"])

    return apply


def duplicate_id(state: State) -> bool:
    """One parameter stands in the place of its neighbour too."""
    ids = state["param_groups"][0]["params"]
    if len(ids) < 2:
        return False
    ids[1] = ids[0]
    return True


def params_tuple(group: dict[str, Any]) -> bool:
    """A tuple of parameters in the place of a list."""
    group["params"] = tuple(group["params"])
    return True


def group_none(state: State) -> bool:
    """None in the place of a group."""
    state["param_groups"][0] = None
    return True


def extra_option(group: dict[str, Any]) -> bool:
    """An option that nobody knows."""
    group["unknown_option"] = 1
    return True


def foreign(build: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]) -> Change:
    """State and options of another optimizer over parameters of the same shapes."""

    def apply(state: State) -> bool:
        shapes = {
            key: next((v.shape for v in entry.values() if isinstance(v, torch.Tensor) and v.dim()), (1,))
            for key, entry in state["state"].items()
            if isinstance(entry, dict)
        }
        ids = [key for group in state["param_groups"] for key in group["params"]]
        parameters = [torch.nn.Parameter(torch.ones(shapes.get(key, (1,)))) for key in ids]
        foreign = build(parameters)
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        foreign.step()
        made = foreign.state_dict()
        (options,) = made["param_groups"]
        kept = [group["params"] for group in state["param_groups"]]
        state["state"] = {key: made["state"][position] for position, key in enumerate(ids)}
        state["param_groups"] = [{**options, "params": params} for params in kept]
        return True

    return apply
