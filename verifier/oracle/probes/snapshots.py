"""Everything an operation that fails must leave alone: identities, versions and bytes."""

from __future__ import annotations

from typing import Any

import torch

Snapshot = tuple[Any, ...]


def snapshot(optimizer: torch.optim.Optimizer) -> Snapshot:
    """What an optimizer and its parameters are, so that two snapshots are equal iff nothing was touched.

    Values are compared by their bytes: equal NaNs are equal, and -0.0 is not 0.0.
    """
    groups = [
        (
            id(group),
            id(group["params"]),
            tuple((key, _frozen(group[key])) for key in group if key != "params"),
        )
        for group in optimizer.param_groups
    ]
    parameters = [(id(p), p._version, _bytes(p)) for group in optimizer.param_groups for p in group["params"]]
    entries = [(id(key), id(entry), _members(entry)) for key, entry in optimizer.state.items()]
    return id(optimizer.state), id(optimizer.param_groups), tuple(groups), tuple(parameters), tuple(entries)


def _members(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return _frozen(entry)
    return tuple((name, id(value), _frozen(value)) for name, value in entry.items())


def values(optimizer: torch.optim.Optimizer) -> Snapshot:
    """The values alone: parameters and state by position, no identities."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    states = [
        tuple((name, _frozen(value, versions=False)) for name, value in sorted(optimizer.state[p].items()))
        if p in optimizer.state and isinstance(optimizer.state[p], dict)
        else None
        for p in parameters
    ]
    return tuple(_bytes(p) for p in parameters), tuple(states)


def _bytes(tensor: torch.Tensor) -> tuple[Any, ...]:
    if tensor.is_meta or tensor.layout != torch.strided:
        return str(tensor.layout), tuple(tensor.shape)
    flat = tensor.detach().contiguous().view(-1)
    data = flat.view(torch.uint8) if flat.numel() else flat
    return str(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride()), bytes(data.tolist())


def _frozen(value: Any, *, versions: bool = True) -> Any:
    if isinstance(value, torch.Tensor):
        return ("tensor", value._version if versions else 0, _bytes(value))
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(_frozen(item, versions=versions) for item in value))
    if isinstance(value, dict):
        return ("dict", tuple((key, _frozen(item, versions=versions)) for key, item in value.items()))
    return (type(value).__name__, repr(value))
