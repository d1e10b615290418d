"""The same steps give the same bits, in another process and with other memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import torch

from verifier.oracle.probes.isolated import SECONDS, CaseError, Died, Json, Said, isolated
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
    try:
        first = isolated(_run(probed, about, 0))
    except CaseError as error:
        return Probing(probe=NAME, open=(f"a plain training: {error.reason}",))
    if isinstance(first, Died):
        return Probing(
            probe=NAME, faults=(Observed(CRASHED, f"a plain training: the process ends ({first.how})"),)
        )
    held, faults = 0, list[Observed]()
    for name, noise in (("run again", False), ("run again among other memory", True)):
        if _again(_run(probed, about, 0, noise=noise)) == first:
            held += 1
        else:
            faults.append(Observed(CODE, f"{name}: parameters or state differ after {STEPS} steps"))
    return Probing(probe=NAME, held=held, faults=tuple(faults), notes=_dependences(probed, about, first))


def _dependences(probed: Probed, about: Circumstances, first: Said) -> tuple[str, ...]:
    """What the steps depend on that they may depend on: sums are rounded by the number of threads."""
    notes = []
    threads = _again(_run(probed, about, 0), threads=2, seconds=THREAD_SECONDS)
    if isinstance(threads, Said) and threads != first:
        notes.append("two threads give other bits than one")
    drawn = _again(_run(probed, about, 1))
    if isinstance(drawn, Said) and drawn != first:
        notes.append("its steps depend on torch's global random numbers")
    return tuple(notes)


def _again(run: Callable[[], Json], *, threads: int = 1, seconds: float = SECONDS) -> Said | Died | None:
    """How a training ends that has ended well before; None where it raises now."""
    try:
        return isolated(run, threads=threads, seconds=seconds)
    except CaseError:
        return None


def _run(probed: Probed, about: Circumstances, draw: int, *, noise: bool = False) -> Callable[[], Json]:
    def run() -> Json:
        kept = [torch.full((count,), 3.5) for count in range(1, 400, 7)] if noise else []
        found = live(probed, about.seed, shapes=LARGE, steps=STEPS, device=about.device, draw=draw)
        del kept
        return str(hash_of(values(found.optimizer)))

    return run


def hash_of(value: object) -> str:
    """A digest of values that does not depend on the process."""
    return hashlib.sha256(repr(value).encode()).hexdigest()
