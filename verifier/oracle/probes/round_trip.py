"""A round trip through ``torch.save`` and ``torch.load(weights_only=True)`` keeps every bit. N36."""

from __future__ import annotations

import io
import warnings
from typing import Any

import torch

from verifier.oracle.probes.contents import content
from verifier.oracle.probes.differences import parameter_differences, state_differences
from verifier.oracle.probes.live import Live, live, live_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "round-trip", "OC609"
DTYPES = ("float32", "bfloat16", "float64")
"""What is tried; what goes wrong in a precision that the contract does not claim is only noted."""
STEPS = 6
"""Steps after loading: what is used every fifth step, and is in no state dict, is seen too."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Save, load into a new optimizer over the same parameters or with other options, and step both."""
    cases = [
        Case(f"{name} parameters", lambda name=name: _lost(probed, about, getattr(torch, name)))  # type: ignore[misc]
        for name in DTYPES
    ]
    claimed = about.contract.precisions if about.contract is not None else DTYPES
    within = [case for case, name in zip(cases, DTYPES, strict=True) if name in claimed]
    beyond = observe(NAME, CODE, [case for case in cases if case not in within])
    notes = [f"{fault.claim}; that precision is not claimed" for fault in beyond.faults]
    options = Case("into one with other options", lambda: _kept_options(probed, about))
    return observe(NAME, CODE, [*within, options], notes=notes)


def _lost(probed: Probed, about: Circumstances, dtype: torch.dtype) -> list[str]:
    warnings.simplefilter("ignore")
    source = live(probed, about.seed, dtype=dtype, device=about.device)
    target = _twin(source)
    target.optimizer.load_state_dict(_saved(source))
    claims = list(state_differences(source, target))
    for number in range(1, STEPS + 1):
        source.step(6 + number)
        target.step(6 + number)
        told = list(parameter_differences(source, target))
        if told:
            when = "the next step" if number == 1 else f"{number} more steps"
            return claims + [f"after {when} {one}" for one in told]
    return claims


def _saved(source: Live) -> Any:
    """What comes back of its state dict."""
    buffer = io.BytesIO()
    torch.save(source.optimizer.state_dict(), buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


def _twin(source: Live) -> Live:
    """A new optimizer over parameters of the same bits."""
    copies = [torch.nn.Parameter(parameter.detach().clone()) for parameter in source.parameters]
    sizes = [len(group["params"]) for group in source.optimizer.param_groups]
    first = sizes[0]
    groups = [{"params": copies[:first]}, {"params": copies[first:]}] if len(sizes) > 1 else None
    return live_of(source.probed, copies, groups)


def _kept_options(probed: Probed, about: Circumstances) -> list[str]:
    """The options that are saved and not restored, in an optimizer whose own are others."""
    warnings.simplefilter("ignore")
    source = live(probed, about.seed, device=about.device)
    target = _twin(source)
    for group in target.optimizer.param_groups:
        group.update({key: _other(value) for key, value in group.items() if key != "params"})
    saved = _saved(source)
    try:
        target.optimizer.load_state_dict(saved)
    except Exception:  # whoever compares options may refuse others
        return []
    lost = dict.fromkeys(
        str(key)
        for mine, theirs in zip(source.optimizer.param_groups, target.optimizer.param_groups, strict=True)
        for key, value in mine.items()
        if key != "params"
        and content(_other(value)) != content(value)
        and content(theirs.get(key)) != content(value)
    )
    return (
        [f"{', '.join(lost)} of the groups {'is' if len(lost) == 1 else 'are'} not restored"] if lost else []
    )


def _other(value: Any) -> Any:
    """Another value of an option, where it is a number or some."""
    if isinstance(value, float) or (isinstance(value, torch.Tensor) and value.is_floating_point()):
        return value / 2 + 0.03125
    return tuple([_other(one) for one in value]) if type(value) is tuple else value
