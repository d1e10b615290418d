"""What torch's getter and setter of distributed checkpoints leave out of a partial state. N6, R57.

It is a defect of these two functions and of no optimizer, so it is noted and is no fault.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch

from verifier.oracle.probes.isolated import CaseError, Said, isolated
from verifier.oracle.probes.live import Live, gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Circumstances
from verifier.oracle.probes.probed import Probed

SHAPES = ((4, 3), (4, 3))


def left_out(probed: Probed, about: Circumstances) -> tuple[str, ...]:
    """A remark for each thing that is left out; none where these functions cannot be tried."""
    try:
        ended = isolated(lambda: list(_left_out(probed, about)))
    except CaseError:  # they refuse this optimizer, which the cases of the probe say
        return ()
    return tuple(map(str, ended.value)) if isinstance(ended, Said) and isinstance(ended.value, list) else ()


def _left_out(probed: Probed, about: Circumstances) -> Iterator[str]:
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict, set_optimizer_state_dict

    warnings.simplefilter("ignore")
    source, target = _made(probed, about), _made(probed, about)
    first, second = gradients(source.parameters, 1)
    source.step_with([first, None])
    state = get_optimizer_state_dict(_model(source), source.optimizer)
    if 0 < len(state["state"]) < len(SHAPES):
        yield (
            f"get_optimizer_state_dict of one with a gradient for one of {len(SHAPES)} parameters: "
            f"{len(state['state'])} of {len(SHAPES)} entries (torch leaves the others out)"
        )
    source.step_with([first, second])
    state = get_optimizer_state_dict(_model(source), source.optimizer)
    target.parameters[1].requires_grad_(False)
    set_optimizer_state_dict(_model(target), target.optimizer, state)
    if len(target.optimizer.state) < len(state["state"]):
        yield (
            f"set_optimizer_state_dict where a parameter is frozen: {len(target.optimizer.state)} of "
            f"{len(state['state'])} entries arrive (torch drops that of the frozen one)"
        )


def _made(probed: Probed, about: Circumstances) -> Live:
    return live_of(probed, parameters_of(SHAPES, about.seed, device=about.device))


def _model(found: Live) -> torch.nn.Module:
    model = torch.nn.Module()
    for position, parameter in enumerate(found.parameters):
        model.register_parameter(f"p{position}", parameter)
        parameter.grad = None
    return model
