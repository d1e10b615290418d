"""The same steps give the same bits, in another process and with other memory."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import torch

from verifier.oracle.probes.isolated import Died, Json, Said, isolated
from verifier.oracle.probes.live import live
from verifier.oracle.probes.observed import CRASHED, Circumstances, Observed, Probing
from verifier.oracle.probes.probed import Probed
from verifier.oracle.probes.snapshots import values

NAME, CODE = "determinism", "OC611"
STEPS = 3
LARGE = ((5, 3), (5, 3), (257, 50), (2, 300))
"""Odd sizes, and more elements than one thread takes."""
THREAD_SECONDS = 10.0
"""Two threads hang in a process whose parent has used some; then nothing is said of them."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Repeat a short training, and compare everything."""
    first = isolated(_run(probed, about, 0))
    if isinstance(first, Died):
        return Probing(
            probe=NAME, faults=(Observed(CRASHED, f"a plain training: the process ends ({first.how})"),)
        )
    held, faults = 0, list[Observed]()
    for name, noise in (("run again", False), ("run again among other memory", True)):
        ended = isolated(_run(probed, about, 0, noise=noise))
        if isinstance(ended, Said) and ended.value == first.value:
            held += 1
        else:
            faults.append(Observed(CODE, f"{name}: parameters or state differ after {STEPS} steps"))
    return Probing(probe=NAME, held=held, faults=tuple(faults), notes=_dependences(probed, about, first))


def _dependences(probed: Probed, about: Circumstances, first: Said) -> tuple[str, ...]:
    """What the steps depend on that they may depend on: sums are rounded by the number of threads."""
    notes = []
    threads = isolated(_run(probed, about, 0), threads=2, seconds=THREAD_SECONDS)
    if isinstance(threads, Said) and threads.value != first.value:
        notes.append("two threads give other bits than one")
    drawn = isolated(_run(probed, about, 1))
    if isinstance(drawn, Said) and drawn.value != first.value:
        notes.append("its steps depend on torch's global random numbers")
    return tuple(notes)


def _run(probed: Probed, about: Circumstances, draw: int, *, noise: bool = False) -> Callable[[], Json]:
    def run() -> Json:
        torch.manual_seed(draw)
        random.seed(draw)
        kept = [torch.full((count,), 3.5) for count in range(1, 400, 7)] if noise else []
        found = live(probed, about.seed, shapes=LARGE, steps=STEPS, device=about.device)
        del kept
        return str(hash_of(values(found.optimizer)))

    return run


def hash_of(value: object) -> str:
    """A digest of values that does not depend on the process."""
    return hashlib.sha256(repr(value).encode()).hexdigest()
