"""Optimizers to be probed: those of ``torch.optim`` by name, and a user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

SHAPES = ((4, 3), (4, 3), (6, 4), (2, 8))
"""Of four parameters in two groups: the first two alike, the last two not. All have two dimensions."""

Build = Callable[[list[dict[str, Any]]], torch.optim.Optimizer]
"""From parameter groups to an optimizer."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One optimizer with its options.

    Attributes:
        name: e.g. "Adam (fused)".
        build: makes it.
        sparse: whether its gradients have to be sparse.
        single_group: whether it takes one parameter group only, and steps with a closure.
    """

    name: str
    build: Build
    sparse: bool = False
    single_group: bool = False


def _of(name: str, **options: Any) -> Build:
    def build(groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
        made: torch.optim.Optimizer = getattr(torch.optim, name)(groups, **options)
        return made

    return build


_PLAIN: Mapping[str, dict[str, Any]] = {
    "Adadelta": {},
    "Adafactor": {},
    "Adagrad": {},
    "Adam": {"weight_decay": 0.01},
    "AdamW": {},
    "Adamax": {},
    "ASGD": {},
    "Muon": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"momentum": 0.9},
    "Rprop": {},
    "SGD": {"momentum": 0.9, "weight_decay": 0.01},
}
_FUSED = ("Adagrad", "Adam", "AdamW", "SGD")
_FOREACH = (
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


def kinds() -> tuple[Kind, ...]:
    """Every optimizer of ``torch.optim``, with its fused and foreach variants."""
    found = [Kind(name, _of(name, **options)) for name, options in _PLAIN.items()]
    found += [Kind(f"{name} (fused)", _of(name, **_PLAIN[name], fused=True)) for name in _FUSED]
    found += [Kind(f"{name} (foreach)", _of(name, **_PLAIN[name], foreach=True)) for name in _FOREACH]
    found.append(Kind("SGD (no momentum)", _of("SGD", lr=0.1)))
    found.append(Kind("SparseAdam", _of("SparseAdam"), sparse=True))
    found.append(Kind("LBFGS", lambda groups: torch.optim.LBFGS(groups[0]["params"]), single_group=True))
    return tuple(sorted(found, key=lambda kind: kind.name))


@dataclass(slots=True)
class Live:
    """An optimizer with its parameters."""

    kind: Kind
    parameters: list[torch.nn.Parameter]
    optimizer: torch.optim.Optimizer

    def _loss(self) -> float:
        return float(sum(float((p.detach() * p.detach()).sum()) for p in self.parameters))

    def step(self, seed: int) -> None:
        """One step with gradients that follow from ``seed``."""
        generator = torch.Generator().manual_seed(seed)
        for parameter in self.parameters:
            gradient = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
            gradient = gradient.to(parameter.dtype).to(parameter.device)
            parameter.grad = gradient.to_sparse(1) if self.kind.sparse else gradient
        if self.kind.single_group:
            self.optimizer.step(self._loss)
        else:
            self.optimizer.step()


def kind_named(name: str) -> Kind:
    """The optimizer of ``torch.optim`` with this name, a variant in parentheses.

    Raises:
        LookupError: there is none.
    """
    plain = name.removeprefix("torch.optim.")
    found = next((kind for kind in kinds() if kind.name == plain), None)
    if found is None:
        raise LookupError(f"no optimizer is called {plain!r}; known are {', '.join(k.name for k in kinds())}")
    return found


def live(kind: Kind, seed: int, *, steps: int = 2, device: str = "cpu") -> Live:
    """A fresh optimizer after some steps. Equal seeds give equal parameters and states."""
    generator = torch.Generator().manual_seed(seed)
    parameters = [torch.nn.Parameter(torch.randn(shape, generator=generator).to(device)) for shape in SHAPES]
    groups = [{"params": parameters[:2]}, {"params": parameters[2:]}]
    if kind.single_group:
        groups = [{"params": parameters}]
    found = Live(kind, parameters, kind.build(groups))
    for number in range(steps):
        found.step(100 * seed + number)
    return found
