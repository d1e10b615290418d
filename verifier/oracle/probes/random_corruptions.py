"""Corruptions at random places, from a seed: what nobody has thought of."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from verifier.oracle.probes.changes_of_state import Change
from verifier.oracle.probes.corruptions import Corruption
from verifier.oracle.probes.torch_form import State

Place = tuple[Any, Any]
"""A container of the state dict, and a key in it."""

_ANY: Mapping[str, Callable[[Any], Any]] = {
    "None": lambda value: None,
    "a text": lambda value: "state",
    "bytes": lambda value: b"\0\1",
    "a list around it": lambda value: [value],
    "a dict around it": lambda value: {"inner": value},
    "a set": lambda value: {1, 2},
    "a huge integer": lambda value: 10**400,
    "a complex number": lambda value: 1j,
}
_TENSOR: Mapping[str, Callable[[torch.Tensor], Any]] = {
    "one element more": lambda t: torch.cat([t.reshape(-1), t.reshape(-1)[:1]]),
    "one axis more": lambda t: t.unsqueeze(0),
    "half the elements": lambda t: t.reshape(-1)[: t.numel() // 2].clone(),
    "float16 that overflowed": lambda t: (t.float() * 1e30).half(),
    "minus infinity": lambda t: torch.full_like(t, float("-inf")),
    "a tensor on no device": lambda t: t.to("meta"),
    "a view of stride zero": lambda t: t.reshape(-1)[:1].expand(max(t.numel(), 2)),
}

_FLOATING = ("float16 that overflowed", "minus infinity")
"""What there is to do to tensors of floating-point numbers only."""


def random_corruptions(seed: int, count: int) -> tuple[Corruption, ...]:
    """``count`` corruptions that follow from the seed: what is put in is drawn first, then where."""
    draw = random.Random(seed)  # noqa: S311 - which corruptions are tried
    found = []
    for number in range(count):
        word = draw.choice([*_ANY, *_TENSOR])
        found.append(
            Corruption(f"random {number} of seed {seed}: {word}", _somewhere(word, draw.getrandbits(32)))
        )
    return tuple(found)


def _somewhere(word: str, seed: int) -> Change:
    def apply(state: State) -> bool:
        places = [place for place in _places(state) if word in _ANY or _is_tensor(place, word in _FLOATING)]
        if not places:
            return False
        container, key = random.Random(seed).choice(places)  # noqa: S311 - as above
        container[key] = (_ANY.get(word) or _TENSOR[word])(container[key])
        return True

    return apply


def _is_tensor(place: Place, floating: bool) -> bool:
    container, key = place
    value = container[key]
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or not value.numel():
        return False
    return value.is_floating_point() or not floating


def _places(state: State) -> Iterator[Place]:
    """Every field of every parameter, and the options of every group that a step reads."""
    for entry in state["state"].values():
        if isinstance(entry, dict):
            yield from ((entry, key) for key in entry)
    for group in state["param_groups"]:
        yield from ((group, key) for key in ("lr", "betas", "eps", "momentum", "params") if key in group)
