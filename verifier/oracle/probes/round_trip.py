"""A round trip through ``torch.save`` and ``torch.load(weights_only=True)`` keeps every bit. N36."""

from __future__ import annotations

import io
import warnings

import torch

from verifier.oracle.probes.differences import parameter_differences, state_differences
from verifier.oracle.probes.live import live, live_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "round-trip", "OC609"
DTYPES = ("float32", "bfloat16", "float64")
"""What is tried; what goes wrong in a precision that the contract does not claim is only noted."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Save, load into a new optimizer over the same parameters, and step both."""
    cases = [
        Case(f"{name} parameters", lambda name=name: _lost(probed, about, getattr(torch, name)))  # type: ignore[misc]
        for name in DTYPES
    ]
    claimed = about.contract.precisions if about.contract is not None else DTYPES
    within = [case for case, name in zip(cases, DTYPES, strict=True) if name in claimed]
    beyond = observe(NAME, CODE, [case for case in cases if case not in within])
    notes = [f"{fault.claim}; that precision is not claimed" for fault in beyond.faults]
    return observe(NAME, CODE, within, notes=notes)


def _lost(probed: Probed, about: Circumstances, dtype: torch.dtype) -> list[str]:
    warnings.simplefilter("ignore")
    source = live(probed, about.seed, dtype=dtype, device=about.device)
    buffer = io.BytesIO()
    torch.save(source.optimizer.state_dict(), buffer)
    buffer.seek(0)
    copies = [torch.nn.Parameter(parameter.detach().clone()) for parameter in source.parameters]
    sizes = [len(group["params"]) for group in source.optimizer.param_groups]
    first = sizes[0]
    groups = [{"params": copies[:first]}, {"params": copies[first:]}] if len(sizes) > 1 else None
    target = live_of(probed, copies, groups)
    target.optimizer.load_state_dict(torch.load(buffer, weights_only=True))
    claims = list(state_differences(source, target))
    source.step(7)
    target.step(7)
    return claims + [f"after the next step {told}" for told in parameter_differences(source, target)]
