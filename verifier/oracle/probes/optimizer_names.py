"""The optimizers of ``torch.optim`` that are probed, by name; known without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ALL = "torch.optim"
ZERO = "torch.distributed.optim.ZeroRedundancyOptimizer"
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

VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{name: (name, options) for name, options in OPTIONS.items()},
    **{f"{name} (fused)": (name, {**OPTIONS[name], "fused": True}) for name in FUSED},
    **{f"{name} (foreach)": (name, {**OPTIONS[name], "foreach": True}) for name in FOREACH},
    "Adam (amsgrad)": ("Adam", {**OPTIONS["Adam"], "amsgrad": True}),
    PLAIN: ("SGD", {}),
    "SGD (dampening)": ("SGD", {"momentum": 0.9, "dampening": 0.5}),
}
"""By the name in reports: a class and its options."""


def require_known(name: str) -> None:
    """Make sure that an optimizer has such a name, in some version of torch.

    Raises:
        LookupError: none has.
    """
    plain = name.removeprefix(PREFIX)
    if plain not in VARIANTS and plain != ZERO:
        raise LookupError(
            f"no optimizer is called {plain!r}; known are {', '.join([*sorted(VARIANTS), ZERO])}"
        )
