"""The declared powers are those of the optimizer: in another unit every bit is the same. N34.

The parameter is multiplied by a power of two, its gradient divided by it, state and options multiplied by
their powers of it. All of that is exact, so the steps have to agree bit by bit. Theory: T27.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch

from verifier.contracts.document import Contract
from verifier.contracts.scale import FLOATING, Powers, declared_powers, solve
from verifier.oracle.probes.differences import differing, entry_of
from verifier.oracle.probes.live import Live, gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, nothing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "scale", "OC617"
STEPS = 4
SHAPE = (6, 4)
GRADIENT = 2.0**-6
"""Gradients are so small that eps takes part, and large enough for those that are compared with squares."""
FACTORS = (3, -2)
"""Exponents of two. Larger ones leave the range in which squares of gradients are exact."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Train in two units, by the powers that the contract declares or implies."""
    if about.contract is None:
        return nothing(NAME, "no contract is known, so no powers are declared")
    if probed.closure:
        return nothing(NAME, "the loss of a closure has a unit of its own")
    powers = powers_of(about.contract)
    if isinstance(powers, str):
        return nothing(NAME, powers)
    cases = [
        Case(f"unit 2**{exponent}", lambda e=exponent: differences(probed, powers, e, about))  # type: ignore[misc]
        for exponent in FACTORS
    ]
    return observe(NAME, CODE, cases)


def powers_of(contract: Contract) -> dict[str, int] | str:
    """The power of every field and option, or why they are not known."""
    solution = solve(contract.scale_equations, declared_powers(contract))
    if not isinstance(solution, Powers):
        return "the scale equations have no solution"
    powers = {name: int(power) for name, power in solution.solved.items() if power.denominator == 1}
    floats = [f.name for f in contract.fields if f.dtype in FLOATING and f.geometry.kind != "opaque"]
    unknown = [name for name in [*floats, *contract.hyperparameters] if name not in powers]
    if unknown or not contract.hyperparameters:
        return f"no power is known of {', '.join(unknown) or 'its hyperparameters'}"
    return powers


def differences(probed: Probed, powers: Mapping[str, int], exponent: int, about: Circumstances) -> list[str]:
    """How the two trainings differ after some steps."""
    warnings.simplefilter("ignore")
    scale = 2.0**exponent
    plain = live_of(probed, parameters_of((SHAPE,), about.seed, device=about.device))
    scaled = live_of(probed, [torch.nn.Parameter(plain.parameters[0].detach() * scale)])
    _rescale_options(scaled, powers, scale)
    _rescale_state(scaled, powers, scale)
    for seed in range(1, STEPS + 1):
        values = [value * GRADIENT for value in gradients(plain.parameters, seed)]
        plain.step_with(values)
        scaled.step_with([value / scale for value in values])
    (mine,), (theirs,) = plain.parameters, scaled.parameters
    changed = differing(mine, theirs.detach() / scale)
    claims = [f"{changed} of {mine.numel()} elements differ after {STEPS} steps"] if changed else []
    own, other = entry_of(plain, mine), entry_of(scaled, theirs)
    for name, value in own.items():
        if not isinstance(value, torch.Tensor) or name not in powers or not value.is_floating_point():
            continue
        if differing(value * scale ** powers[name], other[name]):
            claims.append(f"{name} does not have power {powers[name]:+d}")
    return claims


def _rescale_options(found: Live, powers: Mapping[str, int], scale: float) -> None:
    """Options times their powers; those of a pair are called eps1 and eps2, or have one power."""
    for group in found.optimizer.param_groups:
        for name, value in list(group.items()):
            if isinstance(value, tuple):
                each = [powers.get(f"{name}{k + 1}", powers.get(name, 0)) for k in range(len(value))]
                group[name] = tuple(_times(one, scale**p) for one, p in zip(value, each, strict=True))
            elif powers.get(name):
                group[name] = _times(value, scale ** powers[name])


def _times(value: Any, factor: float) -> Any:
    return value * factor if isinstance(value, float | int) and not isinstance(value, bool) else value


def _rescale_state(found: Live, powers: Mapping[str, int], scale: float) -> None:
    """State that is there before the first step."""
    for parameter in found.parameters:
        for name, value in entry_of(found, parameter).items():
            if isinstance(value, torch.Tensor) and powers.get(name):
                value.mul_(scale ** powers[name])
