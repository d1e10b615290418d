"""Processor time of a call, measured in a child process that a limit can stop.

Wall clocks say little on a shared machine; processor time of one thread says the same on an idle and on a
busy one. Only ratios of numbers of one run mean anything.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import resource
import signal
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

Run = Callable[[], bool]
"""One check of a map that was prepared before; True when it was accepted."""

SAMPLE_SECONDS = 0.005
"""A sample repeats a quick call until it lasts this long."""

SAMPLING_SECONDS = 2.0
"""All samples of one call together, if it is quick enough for more than one."""

PREPARATION_SECONDS = 120
"""Processor time that building a peer's own description of a map may take."""


class NotExpressible(Exception):  # noqa: N818 - an outcome, not an error
    """A peer has no words for this map, or it refuses it; the message says why."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What one call cost.

    Attributes:
        status: "measured", "capped" (stopped after ``seconds``), or "not-expressible".
        seconds: median processor time of a call, or the limit at which it was stopped.
        least: the quickest sample.
        samples: how many there were.
        accepted: whether the map was accepted.
        note: why there is no number.
    """

    status: str
    seconds: float | None = None
    least: float | None = None
    samples: int = 0
    accepted: bool | None = None
    note: str = ""


def time_calls(run: Run, *, repetitions: int, budget: float) -> Timing:
    """Median of up to ``repetitions`` samples within about ``budget`` seconds, one sample at least."""
    start = time.process_time()
    accepted = run()
    first = time.process_time() - start
    inner = max(1, math.ceil(SAMPLE_SECONDS / max(first, 1e-7))) if first < SAMPLE_SECONDS else 1
    samples = [first] if first > budget / 2 else []
    for _ in range(min(repetitions, max(1, int(budget / max(first, 1e-9)) - 1)) if not samples else 0):
        start = time.process_time()
        for _ in range(inner):
            run()
        samples.append((time.process_time() - start) / inner)
    return Timing("measured", statistics.median(samples), min(samples), len(samples), accepted)


def time_in_child(prepare: Callable[[], Run], *, repetitions: int, cap: float) -> Timing:
    """Prepare untimed, then time, in a forked child that is stopped once a call exceeds ``cap`` seconds."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sending, prepare, repetitions, cap))
    child.start()
    sending.close()
    try:
        outcome: Timing | str = receiving.recv()
    except EOFError:
        outcome = ""
    child.join()
    if isinstance(outcome, Timing):
        return outcome
    if child.exitcode == -signal.SIGXCPU:
        return Timing("capped", cap, note=f"stopped after {cap:g} s")
    raise RuntimeError(f"a measurement died with status {child.exitcode}: {outcome}")


def _child(sending: Connection, prepare: Callable[[], Run], repetitions: int, cap: float) -> None:
    """What the parent has loaded is kept out of the garbage collector's rounds, as in a fresh process."""
    gc.collect()
    gc.freeze()
    try:
        _limit(PREPARATION_SECONDS)
        run = prepare()
        gc.collect()
        gc.freeze()
        _limit(cap)
        # All samples together stay well below the limit, which is for calls that take too long alone.
        sending.send(time_calls(run, repetitions=repetitions, budget=min(cap / 2, SAMPLING_SECONDS)))
    except NotExpressible as reason:
        sending.send(Timing("not-expressible", note=str(reason)))
    except Exception as error:
        sending.send(f"{type(error).__name__}: {error}")
        raise


def _limit(seconds: float) -> None:
    used = time.process_time()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + seconds) + 1, hard))
