"""Fail before mutation: what an optimizer does when it is given a corrupted state dict.

RC: rejected, and nothing was touched. RD: raised after the live state was replaced. SX: loads, the next step
raises, no parameter touched; SX!: the same with parameters changed. CRASH: the process ends. SA: loads, and
the step silently gives other numbers; SAN: NaN or Inf. SA=: accepted, and nothing comes of it in this step.
N: normalised to the good state. A dot: there is nothing to corrupt.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from verifier.oracle.probes.corruptions import CORRUPTIONS, Corruption
from verifier.oracle.probes.guarded import guarded_state
from verifier.oracle.probes.isolated import Died, isolated
from verifier.oracle.probes.live import Live, live
from verifier.oracle.probes.observed import Case, Circumstances, Observed, Probing, observe
from verifier.oracle.probes.probed import Probed
from verifier.oracle.probes.random_corruptions import random_corruptions
from verifier.oracle.probes.snapshots import bits, snapshot, values

SOURCE_SEED, TARGET_SEED, NEXT_STEP = 1, 2, 9

NAME = "corruptions"
RANDOM = 16
"""Corruptions from a seed that are tried beside the fixed ones."""
SHOWN = 6

CODES: Mapping[str, str] = {
    "RD": "OC601",
    "CRASH": "OC602",
    "SX!": "OC603",
    "SA": "OC604",
    "SAN": "OC604",
    "SX": "OC605",
}
"""The outcomes that are faults: something was touched before, or instead of, a refusal."""

OUTCOMES = ("RC", "RD", "SX", "SX!", "CRASH", "SA", "SAN", "SA=", "N", ".")


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Every corruption of the fixed list, and some from the seed: one fault for each kind of outcome."""
    good = observe(NAME, CODES["RD"], [Case("a good state dict", lambda: _good(probed, about.device))])
    if good.open or good.faults:
        return good
    tried = (*CORRUPTIONS, *random_corruptions(about.seed, RANDOM))
    words = outcomes(probed, tried, device=about.device)
    wrong: dict[str, list[str]] = {}
    unseen: list[str] = []
    held = 0
    for corruption in tried:
        code = CODES.get(words[corruption.name])
        if code is None:
            held += words[corruption.name] != "."
        elif corruption.visible or code != CODES["SA"]:
            wrong.setdefault(code, []).append(corruption.name)
        else:
            unseen.append(corruption.name)
    notes = [f"taken for a good state, which no loader can tell without a digest: {name}" for name in unseen]
    return Probing(
        probe=NAME,
        held=held + len(unseen),
        faults=tuple([_fault(code, names) for code, names in sorted(wrong.items())]),
        notes=tuple(notes),
    )


def _fault(code: str, names: Sequence[str]) -> Observed:
    more = len(names) - SHOWN
    shown = "; ".join(names[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
    return Observed(code, f"{len(names)} corruptions: {shown}", {"probe": NAME, "corruptions": list(names)})


def _good(probed: Probed, device: str) -> list[str]:
    """A state dict without any corruption is loaded and stepped."""
    target = live(probed, TARGET_SEED, device=device)
    target.optimizer.load_state_dict(
        copy.deepcopy(live(probed, SOURCE_SEED, device=device).optimizer.state_dict())
    )
    target.step(NEXT_STEP)
    return []


def outcomes(
    probed: Probed, corruptions: Sequence[Corruption] = CORRUPTIONS, *, device: str = "cpu"
) -> dict[str, str]:
    """Every corruption by name with its outcome.

    Raises:
        OracleError: the probe itself failed, or this platform cannot fork.
    """
    return {corruption.name: outcome(probed, corruption, device=device) for corruption in corruptions}


def outcome(probed: Probed, corruption: Corruption, *, device: str = "cpu") -> str:
    """What becomes of one corrupted state dict, found out in a process of its own."""
    ended = isolated(lambda: _tried(probed, corruption, device))
    return "CRASH" if isinstance(ended, Died) else str(ended.value)


def _tried(probed: Probed, corruption: Corruption, device: str) -> str:
    warnings.simplefilter("ignore")
    good = copy.deepcopy(live(probed, SOURCE_SEED, device=device).optimizer.state_dict())
    corrupted = corruption.of(good)
    if corrupted is None:
        return "."
    target = live(probed, TARGET_SEED, device=device)
    return _loaded(target, guarded_state(corrupted), good, live(probed, TARGET_SEED, device=device))


def _loaded(target: Live, corrupted: dict[str, Any], good: dict[str, Any], control: Live) -> str:
    before = snapshot(target.optimizer)
    try:
        target.optimizer.load_state_dict(corrupted)
    except Exception:  # whatever an optimizer raises is its refusal
        return "RC" if snapshot(target.optimizer) == before else "RD"
    control.optimizer.load_state_dict(good)
    normalised = values(target.optimizer) == values(control.optimizer)
    parameters = _bits(target)
    try:
        target.step(NEXT_STEP)
    except Exception:  # as above, one step later
        return "SX" if _bits(target) == parameters else "SX!"
    control.step(NEXT_STEP)
    if normalised and values(target.optimizer) == values(control.optimizer):
        return "N"
    if any(not torch.isfinite(parameter).all() for parameter in target.parameters):
        return "SAN"
    return "SA=" if _bits(target) == _bits(control) else "SA"


def _bits(found: Live) -> tuple[Any, ...]:
    return tuple(bits(parameter) for parameter in found.parameters)
