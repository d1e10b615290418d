"""A parameter replaced in its group is noticed: the new one is trained, or the step is refused. R72."""

from __future__ import annotations

import torch

from verifier.oracle.probes.live import gradients, live, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe, words
from verifier.oracle.probes.probed import Probed
from verifier.oracle.probes.snapshots import bits

NAME, CODE = "replacement", "OC612"
SHAPES = ((4, 3), (4, 3))


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Put another tensor of the same shape in a parameter's place; list and length stay as they are."""
    return observe(
        NAME, CODE, [Case("first parameter replaced in its list", lambda: _ignored(probed, about))]
    )


def _ignored(probed: Probed, about: Circumstances) -> list[str]:
    found = live(probed, about.seed, shapes=SHAPES, device=about.device)
    old = found.parameters[0]
    (new,) = parameters_of(SHAPES[:1], about.seed + 5, device=about.device)
    found.optimizer.param_groups[0]["params"][0] = new
    found.parameters[0] = new
    old.grad = gradients([old], 3)[0]
    if probed.sparse:
        old.grad = old.grad.to_sparse()
    before = [bits(parameter) for parameter in (new, old, found.parameters[1])]
    try:
        found.step(3)
    except Exception as error:  # refused; the question is whether anything was touched before
        after = [bits(parameter) for parameter in (new, old, found.parameters[1])]
        return [] if after == before else [f"the step raises {words(error)} after it has changed parameters"]
    claims = []
    if bits(new) == before[0]:
        claims.append("the new parameter is not updated")
    if bits(old) != before[1]:
        claims.append("the replaced parameter is updated")
    return claims + _unsaved(found.optimizer, old)


def _unsaved(optimizer: object, old: torch.Tensor) -> list[str]:
    """Whether the state can be saved afterwards."""
    try:
        optimizer.state_dict()  # type: ignore[attr-defined]
    except Exception as error:  # torch's raises a KeyError for state without a parameter
        orphan = old in getattr(optimizer, "state", {})
        why = ": the state of the replaced parameter is still there" if orphan else ""
        return [f"state_dict() then raises a {type(error).__name__}{why}"]
    return []
