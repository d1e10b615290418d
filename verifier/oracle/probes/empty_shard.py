"""A shard without elements is no reason to raise, and its neighbours are trained as without it. N40."""

from __future__ import annotations

import torch

from verifier.oracle.probes.differences import differing
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "empty-shard", "OC615"
SHAPE, OTHER, EMPTY = (4, 3), (2, 3), ((0, 3), (3, 0), (0,))
STEPS = 2


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Train an empty parameter before and behind another."""
    update = None if about.contract is None else about.contract.update
    declared = update is not None and update.empty_shard == "error"
    shapes = [shape for shape in EMPTY if probed.dims is None or len(shape) in probed.dims]
    cases = [
        Case(
            f"{list(shape)} {'behind' if last else 'before'} another",
            lambda shape=shape, last=last: _broken(probed, about, shape, last, declared),  # type: ignore[misc]
        )
        for shape in shapes
        for last in (True, False)
    ]
    return observe(NAME, CODE, cases)


def _broken(
    probed: Probed, about: Circumstances, shape: tuple[int, ...], last: bool, declared: bool
) -> list[str]:
    alone = live_of(probed, parameters_of((SHAPE,), about.seed, device=about.device))
    start = alone.parameters[0].detach().clone()
    for seed in range(STEPS):
        alone.step_with(gradients(alone.parameters, seed))
    try:
        neighbour = _beside(probed, about, shape, last, start)
    except Exception as error:  # what the probe is about
        return [] if declared else [f"it raises {words(error)}"]
    changed = differing(neighbour, alone.parameters[0])
    # What is trained by its place in the group, or by a norm of all, is another beside any other.
    if not changed or differing(_beside(probed, about, OTHER, last, start), alone.parameters[0]):
        return []
    return [f"{changed} of 12 elements of its neighbour are trained otherwise"]


def _beside(
    probed: Probed, about: Circumstances, shape: tuple[int, ...], last: bool, start: torch.Tensor
) -> torch.Tensor:
    """The parameter, trained beside one of this shape that is before it or behind it."""
    parameters = parameters_of((SHAPE, shape) if last else (shape, SHAPE), about.seed, device=about.device)
    position = 0 if last else 1
    parameters[position].data.copy_(start)
    found = live_of(probed, parameters)
    for seed in range(STEPS):
        values = gradients([start], seed)
        other = gradients([parameters[1 - position]], 0)
        found.step_with([*values, *other] if last else [*other, *values])
    return found.parameters[position]
