"""A parameter replaced in its group is noticed: the new one is trained, or the step is refused. R72."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from verifier.oracle.probes.contents import bits, content
from verifier.oracle.probes.differences import entry_of
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import Live, gradients, live, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, NothingToTryError, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "replacement", "OC612"
SHAPES = ((4, 3), (4, 3))
AT_LEAST, AT_MOST = 6, 32
"""Steps that are taken, and how many where nothing moves: gradients may be gathered for some steps."""
MOVES = 2
"""How often a neighbour moves before a parameter that has not is one that is not trained."""


class UnmovedError(Exception):
    """No parameter moves, so nothing can be said of the new one."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Put another tensor of the same shape in a parameter's place; list and length stay as they are."""
    return observe(
        NAME, CODE, [Case("first parameter replaced in its list", lambda: _ignored(probed, about))]
    )


def _ignored(probed: Probed, about: Circumstances) -> list[str]:
    found = live(probed, about.seed, shapes=SHAPES, device=about.device)
    if found.keeps_copies:
        raise NothingToTryError("its groups hold copies of the parameters, which nobody else replaces")
    old = found.parameters[0]
    (new,) = parameters_of(SHAPES[:1], about.seed + 5, device=about.device)
    found.optimizer.param_groups[0]["params"][0] = new
    found.parameters[0] = new
    old.grad = gradients([old], 3)[0]
    if probed.sparse:
        old.grad = old.grad.to_sparse()
    watched = (new, old, found.parameters[1])
    moves, refusal = _moves(found, watched)
    if refusal:  # the question is whether anything was touched before
        return [] if refusal == UNTOUCHED else [refusal]
    claims = []
    if not moves[0] and not _has_state(found, new):
        if moves[2] < MOVES:
            raise UnmovedError(f"its parameters move less than {MOVES} times in {AT_MOST} steps")
        claims.append("the new parameter is not updated")
    if moves[1]:
        claims.append("the replaced parameter is updated")
    return claims + _unsaved(found.optimizer, old)


UNTOUCHED = "refused before anything is touched"


def _moves(found: Live, watched: Sequence[torch.Tensor]) -> tuple[list[int], str]:
    """In how many steps each of them changes, and how the steps are refused where they are."""
    moves = [0] * len(watched)
    for number in range(AT_MOST):
        before = [bits(parameter) for parameter in watched]
        try:
            found.step(3 + number)
        except Exception as error:
            touched = [bits(parameter) for parameter in watched] != before
            raised = f"the step raises {words(error)} after it has changed parameters"
            return moves, raised if touched else UNTOUCHED
        for position, parameter in enumerate(watched):
            moves[position] += bits(parameter) != before[position]
        if number + 1 >= AT_LEAST and (moves[0] or moves[2] >= MOVES):
            break
    return moves, ""


def _has_state(found: Live, new: torch.Tensor) -> bool:
    """Whether the optimizer keeps something for the new parameter that a step changes."""
    before = content(entry_of(found, new))
    found.step(3 + AT_MOST)
    return bool(content(entry_of(found, new)) != before)


def _unsaved(optimizer: object, old: torch.Tensor) -> list[str]:
    """Whether the state can be saved afterwards."""
    try:
        optimizer.state_dict()  # type: ignore[attr-defined]
    except Exception as error:  # torch's raises a KeyError for state without a parameter
        orphan = old in getattr(optimizer, "state", {})
        why = ": the state of the replaced parameter is still there" if orphan else ""
        return [f"state_dict() then raises a {type(error).__name__}{why}"]
    return []
