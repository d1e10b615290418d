"""How two runs of one optimizer differ, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from verifier.oracle.buffers import to_words
from verifier.oracle.probes.contents import PLAIN, content
from verifier.oracle.probes.live import Live
from verifier.oracle.probes.snapshots import common

Entry = Mapping[Any, Any]


def parameter_differences(one: Live, other: Live) -> Iterator[str]:
    """The elements of parameters that are not the same bits."""
    changed = total = 0
    for mine, theirs in zip(one.parameters, other.parameters, strict=True):
        total += mine.numel()
        changed += differing(mine, theirs)
    if changed:
        yield f"{changed} of {total} elements of the parameters differ"


def state_differences(one: Live, other: Live) -> Iterator[str]:
    """The fields of the state that are not the same bits, those that differ alike together.

    What belongs to no parameter is compared too.
    """
    yield from entries_differ(*([entry_of(found, p) for p in found.parameters] for found in (one, other)))
    yield from entries_differ(*([common(found.optimizer.state)] for found in (one, other)))


def entries_differ(before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[str]:
    """How the states of several parameters differ: each way once, with its fields."""
    ways: dict[str, dict[str, None]] = {}
    for mine, theirs in zip(before, after, strict=True):
        for key in {**mine, **theirs}:
            way = _difference(mine, theirs, key)
            if way is not None:
                ways.setdefault(way, {})[str(key)] = None
    for way, keys in ways.items():
        yield f"{', '.join(keys)} {way}"


def _difference(mine: Entry, theirs: Entry, key: object) -> str | None:
    """How one field differs, None where it does not."""
    if key not in mine or key not in theirs:
        return f"only {'after' if key in theirs else 'before'}"
    one, other = mine[key], theirs[key]
    if content(one) == content(other):
        return None
    was, now = _shown(one), _shown(other)
    return "changed" if was == now else f"was {was} and is {now}"


def entry_of(found: Live, parameter: torch.Tensor) -> Entry:
    """The state of a parameter; asking does not make one."""
    state = found.optimizer.state
    key = found.key_of(parameter)
    entry = state[key] if key in state else {}  # noqa: SIM401 - not every mapping has a get
    return entry if isinstance(entry, Mapping) else {}


def differing(one: torch.Tensor, other: torch.Tensor) -> int:
    """Elements with other bits, of two tensors of one shape and dtype."""
    if not one.numel():
        return 0
    return int((to_words(one.detach()) != to_words(other.detach())).any(dim=1).sum())


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    # The text of other objects may hold an address, which is not the same twice.
    return f"{type(value).__name__} {value!r}"[:40] if isinstance(value, PLAIN) else type(value).__name__
