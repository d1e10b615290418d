"""The optimizers of ``torch.optim`` by name, with their fused and foreach variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from verifier.oracle.probes.optimizer_names import PLAIN, PREFIX, VARIANTS, ZERO, require_known
from verifier.oracle.probes.probed import Build, Groups, Probed
from verifier.oracle.probes.zero_redundancy import probed as zero_redundancy


def torch_optimizers() -> tuple[Probed, ...]:
    """All of them, by name. SparseAdam and Muon are there where torch has them."""
    return tuple([_probed(name, *of) for name, of in sorted(VARIANTS.items()) if hasattr(torch.optim, of[0])])


def optimizer_named(name: str) -> Probed:
    """One of them, with or without ``torch.optim.`` before it, or ZeRO in a world of one rank.

    Raises:
        LookupError: there is none of that name, or this torch lacks it.
    """
    require_known(name)
    plain = name.removeprefix(PREFIX)
    if plain == ZERO:
        return zero_redundancy()
    known = {probed.name.removeprefix(PREFIX): probed for probed in torch_optimizers()}
    if plain not in known:
        raise LookupError(f"torch {torch.__version__} has no {plain}")
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
