"""A living optimizer: parameters, gradients that follow from a seed, and steps."""

from __future__ import annotations

import random
import zlib
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
    """An optimizer with its parameters.

    Attributes:
        draw: which numbers a step gets from the global generators of torch and Python. They follow from it
            and from the gradients, so that two optimizers that are to do the same draw the same.
    """

    probed: Probed
    parameters: list[torch.nn.Parameter]
    optimizer: Any
    draw: int = 0

    @property
    def own(self) -> list[torch.Tensor]:
        """The parameters in the groups: these, or the copies of a higher precision that some keep of them."""
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"]]

    @property
    def keeps_copies(self) -> bool:
        """Whether the groups hold as many parameters and none of these."""
        own = self.own
        ids = set(map(id, own))
        return len(own) == len(self.parameters) and not any(id(p) in ids for p in self.parameters)

    def key_of(self, parameter: torch.Tensor) -> torch.Tensor:
        """What the state of a parameter is found by."""
        position = next((k for k, one in enumerate(self.parameters) if one is parameter), None)
        return parameter if position is None or not self.keeps_copies else self.own[position]

    def step(self, seed: int) -> None:
        """One step with gradients that follow from ``seed``."""
        self.step_with(gradients(self.parameters, seed))

    def step_with(self, values: Sequence[torch.Tensor | None]) -> None:
        """One step with these gradients; None is a parameter without one."""
        _seed(_drawn_from(values, self.draw))
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


def _drawn_from(values: Sequence[torch.Tensor | None], draw: int) -> int:
    """A number that follows from gradients."""
    for value in values:
        seen = None if value is None else value.detach().flatten()[:4].tolist()
        draw = zlib.crc32(repr(seen).encode(), draw)
    return draw


def _seed(number: int) -> None:
    torch.manual_seed(number)
    random.seed(number)


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


def live_of(
    probed: Probed, parameters: list[torch.nn.Parameter], groups: Groups | None = None, *, draw: int = 0
) -> Live:
    """A fresh optimizer over parameters; in one group where none are given."""
    _seed(draw)
    return Live(probed, parameters, probed.made(groups or [{"params": list(parameters)}]), draw)


def live(
    probed: Probed,
    seed: int,
    *,
    shapes: Sequence[Shape] = SHAPES,
    steps: int = 2,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    draw: int = 0,
) -> Live:
    """A new optimizer after some steps; parameters and state are the same for the same seed.

    From four parameters on the first half and the others are groups of their own.
    """
    parameters = parameters_of(shapes, seed, dtype=dtype, device=device)
    half = len(parameters) // 2
    groups = [{"params": parameters[:half]}, {"params": parameters[half:]}]
    found = live_of(probed, parameters, None if probed.single_group or half < 2 else groups, draw=draw)
    for number in range(steps):
        found.step(100 * seed + number)
    return found
