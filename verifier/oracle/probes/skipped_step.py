"""A step that is skipped for an overflow leaves no trace, the first step included. N41."""

from __future__ import annotations

import warnings

import torch

from verifier.oracle.probes.differences import parameter_differences, state_differences
from verifier.oracle.probes.live import Live, live
from verifier.oracle.probes.observed import Case, Circumstances, NothingToTryError, Probing, nothing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "skipped-step", "OC614"


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Let a GradScaler skip a step for an infinite gradient, and compare with an optimizer that saw none."""
    if probed.closure or probed.sparse:
        return nothing(NAME, "a GradScaler takes no closure, and no sparse gradients")
    return observe(
        NAME,
        CODE,
        [
            Case("the first step skipped", lambda: _trace(probed, about, 0)),
            Case("a later step skipped", lambda: _trace(probed, about, 2)),
        ],
    )


def _trace(probed: Probed, about: Circumstances, steps: int) -> list[str]:
    warnings.simplefilter("ignore")
    found = live(probed, about.seed, steps=steps, device=about.device)
    control = live(probed, about.seed, steps=steps, device=about.device)
    if found.keeps_copies:
        raise NothingToTryError("a GradScaler looks at the parameters in the groups, which are copies")
    _skip(found, about.device)
    claims = [f"at once {told}" for told in parameter_differences(control, found)]
    found.step(steps + 1)
    control.step(steps + 1)
    differences = [*parameter_differences(control, found), *state_differences(control, found)]
    return claims + [f"after the next step {told}" for told in differences]


def _skip(found: Live, device: str) -> None:
    """What a training with loss scaling does in a step whose gradients overflow."""
    scaler = torch.amp.GradScaler(torch.device(device).type, init_scale=2.0)
    scaler.scale(torch.zeros(1, device=device))
    for parameter in found.parameters:
        parameter.grad = torch.full_like(parameter, float("inf"))
    scaler.step(found.optimizer)
    scaler.update()
