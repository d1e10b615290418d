"""A living optimizer: parameters, gradients that follow from a seed, and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from verifier.oracle.probes.probed import Groups, Probed

Shape = tuple[int, ...]

SHAPES: tuple[Shape, ...] = ((4, 3), (4, 3), (6, 4), (2, 8))
"""Of four parameters in two groups: the first two alike, the last two not. All are matrices."""


@dataclass(slots=True)
class Live:
    """An optimizer with its parameters."""

    probed: Probed
    parameters: list[torch.nn.Parameter]
    optimizer: Any

    def step(self, seed: int) -> None:
        """One step with gradients that follow from ``seed``."""
        self.step_with(gradients(self.parameters, seed))

    def step_with(self, values: Sequence[torch.Tensor | None]) -> None:
        """One step with these gradients; None is a parameter without one."""
        for parameter, value in zip(self.parameters, values, strict=True):
            parameter.grad = value.to_sparse() if value is not None and self.probed.sparse else value
        if self.probed.closure:
            self.optimizer.step(lambda: self._loss(values))
        else:
            self.optimizer.step()

    def _loss(self, values: Sequence[torch.Tensor | None]) -> torch.Tensor:
        """A loss whose gradient is p**3 + p + value, so that every evaluation finds another one."""
        with torch.enable_grad():
            terms = [
                (p**4 / 4 + p**2 / 2 + p * value).sum()
                for p, value in zip(self.parameters, values, strict=True)
                if value is not None
            ]
            for parameter in self.parameters:
                parameter.grad = None
            loss = torch.stack(terms).sum()
            torch.autograd.backward(loss)
        return loss


def gradients(parameters: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Gradients of the parameters' shapes, dtypes and devices, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(p.shape, generator=generator, dtype=torch.float64) for p in parameters]
    return [value.to(p.dtype).to(p.device) for value, p in zip(drawn, parameters, strict=True)]


def parameters_of(
    shapes: Sequence[Shape], seed: int, *, dtype: torch.dtype = torch.float32, device: str = "cpu"
) -> list[torch.nn.Parameter]:
    """Parameters, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [torch.nn.Parameter(value.to(dtype).to(device)) for value in drawn]


def live_of(probed: Probed, parameters: list[torch.nn.Parameter], groups: Groups | None = None) -> Live:
    """A fresh optimizer over parameters; in one group where none are given."""
    return Live(probed, parameters, probed.made(groups or [{"params": list(parameters)}]))


def live(
    probed: Probed,
    seed: int,
    *,
    shapes: Sequence[Shape] = SHAPES,
    steps: int = 2,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> Live:
    """A new optimizer after some steps; parameters and state are the same for the same seed.

    From four parameters on the first half and the others are groups of their own.
    """
    parameters = parameters_of(shapes, seed, dtype=dtype, device=device)
    half = len(parameters) // 2
    groups = [{"params": parameters[:half]}, {"params": parameters[half:]}]
    found = live_of(probed, parameters, None if probed.single_group or half < 2 else groups)
    for number in range(steps):
        found.step(100 * seed + number)
    return found
