"""A loaded state is a copy, and what ``state_dict`` hands out is not what is in use. N37."""

from __future__ import annotations

import copy
from typing import Any

from verifier.oracle.probes.contents import content
from verifier.oracle.probes.differences import entries_differ, entry_of
from verifier.oracle.probes.live import live
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "aliasing", "OC610"
INTRUDER = "intruder"


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Load one optimizer from another and step the other; write into what ``state_dict`` returned."""
    return observe(
        NAME,
        CODE,
        [
            Case("loaded from a living optimizer", lambda: _shared(probed, about)),
            Case("dicts of a state_dict", lambda: _handed_out(probed, about)),
        ],
    )


def _shared(probed: Probed, about: Circumstances) -> list[str]:
    source = live(probed, about.seed, device=about.device)
    target = live(probed, about.seed + 1, device=about.device)
    target.optimizer.load_state_dict(source.optimizer.state_dict())
    before = [copy.deepcopy(entry_of(target, parameter)) for parameter in target.parameters]
    source.step(5)
    after = [entry_of(target, parameter) for parameter in target.parameters]
    return [f"a step of the source changes the target: {told}" for told in entries_differ(before, after)]


def _handed_out(probed: Probed, about: Circumstances) -> list[str]:
    found = live(probed, about.seed, device=about.device)
    before = [content(entry_of(found, parameter)) for parameter in found.parameters]
    _intrude(found.optimizer.state_dict())
    claims = []
    if [content(entry_of(found, parameter)) for parameter in found.parameters] != before:
        claims.append("what is written into a dict of the state is in the optimizer")
    if any(INTRUDER in group for group in found.optimizer.param_groups):
        claims.append("what is written into a group is in the optimizer")
    return claims


def _intrude(handed: Any) -> None:
    """Write into every dict that was handed out, however deep it lies."""
    if isinstance(handed, dict):
        for item in list(handed.values()):
            _intrude(item)
        handed[INTRUDER] = 1
    elif isinstance(handed, list | tuple):
        for item in handed:
            _intrude(item)
