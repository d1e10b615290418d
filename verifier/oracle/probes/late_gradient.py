"""A group may hold parameters that have a state and parameters that have none yet. N42.

A parameter whose first gradient is late is trained as it is by itself from that step on. That is asked only
where two parameters that begin together are each trained as by itself, and where the groups count no steps:
a counter that a group has for all of its parameters is not the late one's own.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from verifier.oracle.probes.closeness import beyond
from verifier.oracle.probes.contents import content
from verifier.oracle.probes.differences import differing
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import Live, gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "late-gradient", "OC618"
SHAPES = ((4, 3), (4, 3))
STEPS = 8
"""With both gradients; they may be gathered for some steps before a parameter moves."""

Values = Sequence[Sequence[torch.Tensor | None]]
"""The gradients of every step."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Give one of two parameters its first gradient a step late."""
    cases = [
        Case(f"the {word} parameter a step late", lambda late=late: _broken(probed, about, late))  # type: ignore[misc]
        for word, late in (("second", 1), ("first", 0))
    ]
    return observe(NAME, CODE, cases)


def _broken(probed: Probed, about: Circumstances, late: int) -> list[str]:
    found = _made(probed, about)
    start = [parameter.detach().clone() for parameter in found.parameters]
    together: Values = [gradients(found.parameters, number) for number in range(1, STEPS + 1)]
    delayed: Values = [[None if k == late else value for k, value in enumerate(together[0])], *together]
    twin = _made(probed, about)
    counted = _train(twin, together)
    try:
        _train(found, delayed)
    except Exception as error:  # what the probe is about
        return [f"it raises {words(error)}"]
    claims = [
        f"parameter {position} is not trained"
        for position in range(len(SHAPES))
        if not differing(found.parameters[position], start[position])
        and differing(twin.parameters[position], start[position])
    ]
    if claims or counted:
        return claims
    alone = _alone(probed, about, late, together)
    if alone is None or beyond(twin.parameters[late], alone, start[late], ulps=0):
        return []
    delayed_alone = _alone(probed, about, late, delayed)
    if delayed_alone is None:
        return []
    wrong = beyond(found.parameters[late], delayed_alone, start[late], ulps=0 if probed.same_bits else 1)
    told = f"{wrong} of {alone.numel()} elements of the late parameter are trained otherwise than by itself"
    return [told] if wrong else []


def _made(probed: Probed, about: Circumstances) -> Live:
    return live_of(probed, parameters_of(SHAPES, about.seed, device=about.device))


def _train(found: Live, values: Values) -> bool:
    """Take the steps; whether options of the groups change in them, as counters and schedules do."""
    before = _options(found)
    for step in values:
        found.step_with(step)
    return bool(_options(found) != before)


def _options(found: Live) -> object:
    return content([{k: v for k, v in g.items() if k != "params"} for g in found.optimizer.param_groups])


def _alone(probed: Probed, about: Circumstances, position: int, values: Values) -> torch.Tensor | None:
    """The parameter trained without the other; None where that is refused."""
    own = parameters_of(SHAPES, about.seed, device=about.device)[position]
    found = live_of(probed, [own])
    try:
        _train(found, [[step[position]] for step in values])
    except Exception:  # a step without any gradient may be refused, which is not asked here
        return None
    return own
