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

SAMPLING_SECONDS = 2.0
"""All samples of one call together, if it is quick enough for more than one."""

PREPARATION_SECONDS = 120
"""Processor time that building a peer's own description of a map may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much a measurement may cost.

    Attributes:
        repetitions: samples of a call.
        sample: seconds for which a quick call is repeated; processor clocks may move in steps of 4 ms.
        cap: processor seconds after which a call is stopped.
    """

    repetitions: int = 9
    sample: float = 0.1
    cap: float = 5.0


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


def time_calls(run: Run, effort: Effort) -> Timing:
    """Median of the samples that fit, one at least. Only a call that takes too long alone meets the cap."""
    budget = min(effort.cap / 2, SAMPLING_SECONDS)
    start = time.process_time()
    accepted = run()
    sample, calls = time.process_time() - start, 1
    spent = sample
    while sample < effort.sample and spent < budget:
        calls *= 2
        sample = _sample(run, calls)
        spent += sample
    samples = [sample / calls]
    while len(samples) < effort.repetitions and spent + sample <= budget:
        sample = _sample(run, calls)
        spent += sample
        samples.append(sample / calls)
    return Timing("measured", statistics.median(samples), min(samples), len(samples), accepted)


def _sample(run: Run, calls: int) -> float:
    """Processor time of several calls."""
    start = time.process_time()
    for _ in range(calls):
        run()
    return time.process_time() - start


def time_in_child(prepare: Callable[[], Run], effort: Effort) -> Timing:
    """Prepare untimed, then time, in a forked child that is stopped once a call exceeds the cap."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sending, prepare, effort))
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
        return Timing("capped", effort.cap, note=f"stopped after {effort.cap:g} s")
    raise RuntimeError(f"a measurement died with status {child.exitcode}: {outcome}")


def _child(sending: Connection, prepare: Callable[[], Run], effort: Effort) -> None:
    """What the parent has loaded is kept out of the garbage collector's rounds, as in a fresh process."""
    gc.collect()
    gc.freeze()
    try:
        _limit(PREPARATION_SECONDS)
        run = prepare()
        gc.collect()
        gc.freeze()
        _limit(effort.cap)
        sending.send(time_calls(run, effort))
    except NotExpressible as reason:
        sending.send(Timing("not-expressible", note=str(reason)))
    except Exception as error:
        sending.send(f"{type(error).__name__}: {error}")
        raise


def _limit(seconds: float) -> None:
    used = time.process_time()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + seconds) + 1, hard))
