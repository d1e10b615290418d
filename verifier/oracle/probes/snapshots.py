"""Everything that an operation has to leave alone: identities, versions and bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from verifier.oracle.probes.contents import PLAIN, bits, content

Snapshot = tuple[Any, ...]

_SHOWN_ELSEWHERE = ("state", "param_groups", "__dict__", "__weakref__")


def snapshot(optimizer: Any) -> Snapshot:
    """What an optimizer and its parameters are; two of them are equal where nothing was touched in between.

    Besides state and groups it holds every other attribute, for what is cached there must not change either.
    """
    return (
        _frozen(optimizer.param_groups),
        id(optimizer.state),
        tuple((_key(key), _frozen(entry)) for key, entry in optimizer.state.items()),
        tuple((name, _frozen(value)) for name, value in _attributes(optimizer)),
    )


def values(optimizer: Any) -> Snapshot:
    """The values alone: parameters, state and options by position, without identities and versions."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    state = optimizer.state
    entries = [state[p] if p in state else None for p in parameters]  # noqa: SIM401 - it may have no get
    options = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    return tuple(bits(p) for p in parameters), content(entries), content(common(state)), content(options)


def common(state: Mapping[Any, Any]) -> dict[Any, Any]:
    """What the state holds beside that of parameters. A number is the id of a parameter that is not here."""
    return {key: entry for key, entry in state.items() if not isinstance(key, torch.Tensor | int)}


def _attributes(optimizer: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of its own, those in slots too."""
    own = dict(getattr(optimizer, "__dict__", {}))
    for cls in type(optimizer).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(optimizer, name):
                own.setdefault(name, getattr(optimizer, name))
    return ((name, value) for name, value in own.items() if name not in _SHOWN_ELSEWHERE)


def _key(key: Any) -> Any:
    return key if isinstance(key, int | str) else id(key)


def _frozen(value: Any, depth: int = 6) -> Any:
    """A value with the identity of every container and tensor in it."""
    if isinstance(value, PLAIN):
        return type(value).__name__, repr(value)
    if isinstance(value, torch.Tensor):
        return id(value), value._version, tuple(value.stride()) if _is_strided(value) else (), bits(value)
    if depth and isinstance(value, Mapping):
        return id(value), tuple((_key(key), _frozen(item, depth - 1)) for key, item in value.items())
    if depth and isinstance(value, list | tuple):
        return id(value), tuple(_frozen(item, depth - 1) for item in value)
    return type(value).__name__, id(value)


def _is_strided(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided
