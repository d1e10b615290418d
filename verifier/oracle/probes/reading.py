"""Reading is neutral, by ``state_dict`` and by the getter of distributed checkpoints. N35."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from verifier.oracle.probes.differences import parameter_differences, state_differences
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import Live, live
from verifier.oracle.probes.observed import Case, Circumstances, NothingToTryError, Probing, observe
from verifier.oracle.probes.partial_state import left_out
from verifier.oracle.probes.probed import Probed

NAME, CODE = "reading", "OC608"


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Read a fresh optimizer and one in use, both ways, and compare the next step with an unread twin."""
    readers: dict[str, Callable[[Live], Any]] = {"state_dict": lambda found: found.optimizer.state_dict()}
    notes = list[str]()
    if probed.closure or probed.sparse:
        notes.append("the getter of distributed checkpoints steps with dense gradients and no closure")
    else:
        readers["get_optimizer_state_dict"] = checkpoint_state
        notes += left_out(probed, about)
    cases = [
        Case(f"{name} of {when}", lambda read=read, steps=steps: _changed(probed, about, read, steps))  # type: ignore[misc]
        for name, read in readers.items()
        for when, steps in (("a fresh optimizer", 0), ("one in use", 2))
    ]
    return observe(NAME, CODE, cases, notes=notes)


def checkpoint_state(found: Live) -> dict[str, Any]:
    """The optimizer state as torch.distributed.checkpoint asks for it.

    Raises:
        NothingToTryError: it asks only optimizers of torch's own class.
    """
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

    if not isinstance(found.optimizer, torch.optim.Optimizer):
        raise NothingToTryError(
            "get_optimizer_state_dict is for classes that derive from torch.optim.Optimizer"
        )
    model = torch.nn.Module()
    for position, parameter in enumerate(found.parameters):
        parameter.grad = None
        model.register_parameter(f"p{position}", parameter)
    return dict(get_optimizer_state_dict(model, found.optimizer))


def _changed(probed: Probed, about: Circumstances, read: Callable[[Live], Any], steps: int) -> list[str]:
    warnings.simplefilter("ignore")
    found = live(probed, about.seed, steps=steps, device=about.device)
    control = live(probed, about.seed, steps=steps, device=about.device)
    for parameter in found.parameters:
        parameter.grad = None
    refused = _refused(read, found)
    claims = list(state_differences(control, found))
    found.step(steps + 1)
    control.step(steps + 1)
    claims += [f"after the next step {told}" for told in parameter_differences(control, found)]
    if refused and not claims:
        raise NothingToTryError(f"get_optimizer_state_dict refuses it ({refused})")
    return claims


def _refused(read: Callable[[Live], Any], found: Live) -> str:
    """Read it; why torch's getter refuses the optimizer, empty where it does not."""
    try:
        read(found)
    except NothingToTryError:
        raise
    except Exception as error:
        if read is not checkpoint_state:  # its own state_dict is not to raise
            raise
        return words(error)
    return ""
