"""Fail before mutation: what an optimizer does when it is given a corrupted state dict.

RC: rejected, and nothing was touched. RD: raised after the live state was replaced. SX: loads, the next step
raises, no parameter touched; SX!: the same with parameters changed. CRASH: the process ends. SA: loads, and
the step silently gives other numbers; SAN: NaN or Inf. SA=: accepted, and nothing comes of it in this step.
N: normalised to the good state. A dot: there is nothing to corrupt.

What has no effect on one step may have one on a later step, as NaN in an average that is used every tenth
time: SA= is followed for some steps.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from verifier.oracle.probes.contents import bits
from verifier.oracle.probes.corruptions import CORRUPTIONS, Corruption
from verifier.oracle.probes.differences import entry_of
from verifier.oracle.probes.guarded import guarded_state
from verifier.oracle.probes.isolated import CaseError, Died, Said, isolated
from verifier.oracle.probes.live import Live, live
from verifier.oracle.probes.observed import (
    Case,
    Circumstances,
    NothingToTryError,
    Observed,
    Probing,
    observe,
)
from verifier.oracle.probes.probed import Probed
from verifier.oracle.probes.random_corruptions import random_corruptions
from verifier.oracle.probes.snapshots import snapshot, values
from verifier.oracle.probes.torch_form import has_torch_form

SOURCE_SEED, TARGET_SEED, NEXT_STEP = 1, 2, 9

NAME = "corruptions"
LATER = 6
"""Steps for which a state is followed that had no effect on the first."""
OTHER_FORM = "its state dict is of another form than torch's: none of it was corrupted"
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one corrupted state dict.

    Attributes:
        word: in the first step.
        later: SA, SAN or SX where a later step, or the state after it, goes wrong although the first did not.
        taken_for_good: whether no loader can tell it from a good one without a digest.
    """

    word: str
    later: str = ""
    taken_for_good: bool = False

    @property
    def code(self) -> str | None:
        """The code of the fault, None where it is none."""
        return CODES.get(self.later or self.word)


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Every corruption of the fixed list, and some from the seed: one fault for each kind of outcome."""
    good = observe(NAME, CODES["RD"], [Case("a good state dict", lambda: _good(probed, about.device))])
    if not good.held:
        return good
    tried = (*CORRUPTIONS, *random_corruptions(about.seed, RANDOM))
    wrong: dict[str, list[str]] = {}
    unseen, left = list[str](), list[str]()
    held = 0
    for corruption in tried:
        try:
            became = found_out(probed, corruption, device=about.device)
        except CaseError as error:
            left.append(f"{corruption.name}: {error.reason}")
            continue
        if became.code is None:
            held += became.word != "."
        elif became.taken_for_good and became.code == CODES["SA"]:
            unseen.append(corruption.name)
        else:
            name = f"{corruption.name} (in a later step)" if became.later else corruption.name
            wrong.setdefault(became.code, []).append(name)
    notes = [f"taken for a good state, which no loader can tell without a digest: {name}" for name in unseen]
    return Probing(
        probe=NAME,
        held=held + len(unseen),
        faults=tuple([_fault(code, names) for code, names in sorted(wrong.items())]),
        open=tuple(left),
        notes=tuple(notes),
    )


def _fault(code: str, names: Sequence[str]) -> Observed:
    more = len(names) - SHOWN
    shown = "; ".join(names[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
    return Observed(code, f"{len(names)} corruptions: {shown}", {"probe": NAME, "corruptions": list(names)})


def _good(probed: Probed, device: str) -> list[str]:
    """A state dict without any corruption is loaded and stepped."""
    target = live(probed, TARGET_SEED, device=device)
    state = copy.deepcopy(live(probed, SOURCE_SEED, device=device).optimizer.state_dict())
    target.optimizer.load_state_dict(state)
    target.step(NEXT_STEP)
    if not has_torch_form(state):
        raise NothingToTryError(OTHER_FORM)
    return []


def outcomes(
    probed: Probed, corruptions: Sequence[Corruption] = CORRUPTIONS, *, device: str = "cpu"
) -> dict[str, str]:
    """Every corruption by name with its outcome in the first step.

    Raises:
        OracleError: the probe itself failed, or this platform cannot fork.
    """
    return {corruption.name: outcome(probed, corruption, device=device) for corruption in corruptions}


def outcome(probed: Probed, corruption: Corruption, *, device: str = "cpu") -> str:
    """What becomes of one corrupted state dict in the first step."""
    return found_out(probed, corruption, device=device).word


def found_out(probed: Probed, corruption: Corruption, *, device: str = "cpu") -> Outcome:
    """What becomes of one corrupted state dict, found out in a process of its own.

    Raises:
        CaseError: it could not be made or tried.
    """
    ended = isolated(lambda: list(_tried(probed, corruption, device)))
    match ended:
        case Died():
            return Outcome("CRASH")
        case Said([str(word), str(later), taken]):
            return Outcome(word, later, bool(taken))
    raise AssertionError(ended)


def _tried(probed: Probed, corruption: Corruption, device: str) -> tuple[str, str, bool]:
    warnings.simplefilter("ignore")
    good = copy.deepcopy(live(probed, SOURCE_SEED, device=device).optimizer.state_dict())
    corrupted = corruption.of(good)
    if corrupted is None:
        return ".", "", False
    earlier = [live(probed, SOURCE_SEED, steps=n, device=device).optimizer.state_dict() for n in (0, 1)]
    taken = corruption.taken_for_good(corrupted, [good, *earlier])
    target, control = (live(probed, TARGET_SEED, device=device) for _ in range(2))
    word = _loaded(target, guarded_state(corrupted), good, control)
    return word, _later(target, control) if word == "SA=" else "", taken


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


def _later(target: Live, control: Live) -> str:
    """What goes wrong in one of the steps that follow; empty where nothing does."""
    for number in range(1, LATER + 1):
        control.step(NEXT_STEP + number)
        try:
            target.step(NEXT_STEP + number)
        except Exception:  # a refusal that comes even later
            return "SX"
        if _bits(target) != _bits(control):
            return "SA"
    return "SAN" if _infinite(target) > _infinite(control) else ""


def _infinite(found: Live) -> int:
    """How many tensors of the state hold NaN or an infinity."""
    entries = [entry_of(found, parameter) for parameter in found.parameters]
    return sum(not torch.isfinite(tensor).all() for tensor in _tensors(entries))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() and not value.is_meta and value.layout == torch.strided:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


def _bits(found: Live) -> tuple[Any, ...]:
    return tuple(bits(parameter) for parameter in found.parameters)
