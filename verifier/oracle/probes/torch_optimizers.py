"""The optimizers of ``torch.optim`` by name, with their fused and foreach variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from verifier.oracle.probes.probed import Build, Groups, Probed
from verifier.oracle.probes.zero_redundancy import NAME as ZERO
from verifier.oracle.probes.zero_redundancy import probed as zero_redundancy

PREFIX = "torch.optim."

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "Adadelta": {},
    "Adafactor": {},
    "Adagrad": {},
    "Adam": {"weight_decay": 0.01},
    "AdamW": {},
    "Adamax": {},
    "ASGD": {},
    "LBFGS": {"max_iter": 4},
    "Muon": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "SGD": {"momentum": 0.9, "weight_decay": 0.01},
    "SparseAdam": {},
}
"""Options under which an optimizer uses all of its state."""

PLAIN = "SGD (no momentum)"
"""It has no state, and the contract of SGD is about the one with momentum."""

FUSED = ("Adagrad", "Adam", "AdamW", "SGD")
FOREACH = (
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ASGD",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
)


def torch_optimizers() -> tuple[Probed, ...]:
    """All of them, by name. SparseAdam and Muon are there where torch has them."""
    found = [_probed(name, name, options) for name, options in OPTIONS.items() if hasattr(torch.optim, name)]
    found += [_probed(f"{name} (fused)", name, {**OPTIONS[name], "fused": True}) for name in FUSED]
    found += [_probed(f"{name} (foreach)", name, {**OPTIONS[name], "foreach": True}) for name in FOREACH]
    found += [
        _probed("Adam (amsgrad)", "Adam", {**OPTIONS["Adam"], "amsgrad": True}),
        _probed(PLAIN, "SGD", {}),
        _probed("SGD (dampening)", "SGD", {"momentum": 0.9, "dampening": 0.5}),
    ]
    return tuple(sorted(found, key=lambda probed: probed.name))


def optimizer_named(name: str) -> Probed:
    """One of them, with or without ``torch.optim.`` before it, or ZeRO in a world of one rank.

    Raises:
        LookupError: there is none of that name.
    """
    plain = name.removeprefix(PREFIX)
    if plain == ZERO:
        return zero_redundancy()
    known = {probed.name.removeprefix(PREFIX): probed for probed in torch_optimizers()}
    if plain not in known:
        raise LookupError(f"no optimizer is called {plain!r}; known are {', '.join([*known, ZERO])}")
    return known[plain]


def _probed(name: str, cls: str, options: Mapping[str, Any]) -> Probed:
    return Probed(
        name=f"{PREFIX}{name}",
        build=_build(cls, options),
        dims=(2,) if cls == "Muon" else None,
        sparse=cls == "SparseAdam",
        closure=cls == "LBFGS",
        single_group=cls == "LBFGS",
        contract="" if name == PLAIN else f"{PREFIX}{cls}",
        same_bits="fused" not in options,
    )


def _build(cls: str, options: Mapping[str, Any]) -> Build:
    def build(groups: Groups) -> torch.optim.Optimizer:
        made: torch.optim.Optimizer = getattr(torch.optim, cls)(groups, **options)
        return made

    return build
