"""Fail before mutation: what an optimizer does when it is given a corrupted state dict.

RC: rejected, and nothing was touched. RD: raised after the live state was replaced. SX: loads, the next step
raises, no parameter touched; SX!: the same with parameters changed. CRASH: the process ends. SA: loads, and
the step silently gives other numbers; SAN: NaN or Inf. SA=: accepted, and nothing comes of it in this step.
N: normalised to the good state. A dot: there is nothing to corrupt.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence

import torch

from verifier.oracle.errors import OracleError
from verifier.oracle.probes.corruptions import CORRUPTIONS, Corruption, State
from verifier.oracle.probes.isolated import isolated
from verifier.oracle.probes.snapshots import snapshot, values
from verifier.oracle.probes.subjects import Kind, Live, live

SOURCE_SEED, TARGET_SEED, NEXT_STEP = 1, 2, 9

OUTCOMES = ("RC", "RD", "SX", "SX!", "CRASH", "SA", "SAN", "SA=", "N", ".")


def outcome(kind: Kind, corruption: Corruption, *, device: str = "cpu") -> str:
    """What becomes of one corrupted state dict, found out in a process of its own."""
    good = live(kind, SOURCE_SEED, device=device).optimizer.state_dict()
    corrupted = corruption.of(good)
    if corrupted is None:
        return "."
    ended = isolated(lambda: _tried(kind, good, corrupted, device))
    if ended.died.startswith("exit"):
        raise OracleError(
            f"the probe of {kind.name} with {corruption.name!r} failed by itself ({ended.died})"
        )
    return ended.said if ended.said is not None else "CRASH"


def outcomes(
    kind: Kind, corruptions: Sequence[Corruption] = CORRUPTIONS, *, device: str = "cpu"
) -> dict[str, str]:
    """Every corruption by name."""
    torch.set_num_threads(1)  # threads do not survive a fork
    return {corruption.name: outcome(kind, corruption, device=device) for corruption in corruptions}


def _tried(kind: Kind, good: State, corrupted: State, device: str) -> str:
    warnings.simplefilter("ignore")
    target = live(kind, TARGET_SEED, device=device)
    before = snapshot(target.optimizer)
    try:
        target.optimizer.load_state_dict(corrupted)
    except Exception:  # whatever an optimizer raises is its refusal
        return "RC" if snapshot(target.optimizer) == before else "RD"
    control = live(kind, TARGET_SEED, device=device)
    control.optimizer.load_state_dict(copy.deepcopy(good))
    normalised = values(target.optimizer) == values(control.optimizer)
    parameters = _parameters(target)
    try:
        target.step(NEXT_STEP)
    except Exception:  # as above, one step later
        return "SX" if _parameters(target) == parameters else "SX!"
    control.step(NEXT_STEP)
    if normalised and values(target.optimizer) == values(control.optimizer):
        return "N"
    if any(not torch.isfinite(parameter).all() for parameter in target.parameters):
        return "SAN"
    return "SA=" if _parameters(target) == _parameters(control) else "SA"


def _parameters(found: Live) -> tuple[bytes, ...]:
    return tuple(
        bytes(p.detach().contiguous().view(torch.uint8).flatten().tolist()) for p in found.parameters
    )
