"""Many cases against one target: which are left to do, done by workers, kept in a store, summed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import partial

from fuzz.cases import case_at
from fuzz.outcomes import DISAGREEMENT, Tally, finding
from fuzz.store import Chunk, Store
from fuzz.target import Target
from verifier.audit.executors import Workers, in_any_order

FIRST = 8
"""Cases of the first tasks, while nobody knows how long a case takes."""
MOST = 420
"""Most cases of a task."""
TASK_SECONDS = 2.0
"""What a task should take: as much is lost at an interruption, and so exact is the end by time."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How long a campaign is.

    Attributes:
        seeds: each has the cases 0, 1, ...
        cases: of each seed; None for as many as time allows.
        seconds: after which no further task is begun; None for no limit.
    """

    seeds: tuple[int, ...] = (1,)
    cases: int | None = None
    seconds: float | None = None

    def holds(self, chunk: Chunk) -> bool:
        """Whether all cases of a chunk belong to it."""
        return chunk.seed in self.seeds and (self.cases is None or chunk.stop <= self.cases)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a campaign is. ``before`` are the cases that an earlier run had done."""

    tally: Tally
    cases: int
    before: int


class DiedError(Exception):
    """A worker died; the text names the cases it may have been at."""


@dataclass(slots=True)
class _Pace:
    """How many cases make a task of some seconds."""

    cases: int = FIRST

    def learn(self, chunk: Chunk, seconds: float) -> None:
        """Go by the last task, not faster than twice as many at once."""
        each = seconds / (chunk.stop - chunk.start)
        fitting = MOST if each == 0 else int(TASK_SECONDS / each)
        self.cases = max(1, min(MOST, 2 * self.cases, fitting))


def run_case(target: Target, seed: int, index: int) -> Tally:
    """One case. A crash is a finding about us and stops nothing: the target says what a map did to others."""
    case = case_at(target.selection, seed, index)
    try:
        return target.run(case)
    except Exception as error:
        crashed = Tally()
        key = f"crash {type(error).__name__}"
        crashed.note(finding(case, DISAGREEMENT, key, f"crash, {type(error).__name__}: {error}"))
        return crashed


def run_chunk(target: Target, chunk: Chunk) -> tuple[Tally, float]:
    """The cases of one task, and the seconds they took."""
    started = time.perf_counter()
    tally = Tally()
    for index in range(chunk.start, chunk.stop):
        tally.merge(run_case(target, chunk.seed, index))
    tally.count("cases", times=chunk.stop - chunk.start)
    return tally, time.perf_counter() - started


def run_campaign(
    target: Target,
    extent: Extent,
    store: Store,
    found: Workers,
    *,
    shown: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """All cases of the extent that the store does not have yet; the sum of all that it has of the extent.

    The sum does not depend on the workers, on how cases fall into tasks, nor on interruptions, unless time
    ended the campaign.

    Raises:
        DiedError: a worker process died.
        StoreError: results cannot be read or kept.
    """
    started = time.monotonic()
    done = _disjoint(chunk for chunk in store.done() if extent.holds(chunk))
    total = Tally()
    for chunk in done:
        total.merge(store.tally(chunk))
    before = total.counts["cases",]
    progress, pace = Progress(total, before, before), _Pace()
    shown(progress)

    def in_time() -> bool:
        return extent.seconds is None or time.monotonic() - started < extent.seconds

    under_way: set[Chunk] = set()
    tasks = _noted(_left(extent, done, pace, in_time), under_way)
    try:
        for chunk, (tally, seconds) in in_any_order(found, partial(run_chunk, target), tasks):
            under_way.discard(chunk)
            pace.learn(chunk, seconds)
            store.keep(chunk, tally)
            total.merge(tally)
            progress = Progress(total, total.counts["cases",], before)
            shown(progress)
    except BrokenExecutor as error:
        names = ", ".join(f"{c.seed}:{c.start} to {c.seed}:{c.stop - 1}" for c in sorted(under_way))
        raise DiedError(f"a worker died; it was at one of the cases {names}") from error
    return progress


def _disjoint(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Chunks of which no two share a case: two campaigns at once may have cut differently."""
    kept: list[Chunk] = []
    for chunk in sorted(chunks):
        if not kept or chunk.seed != kept[-1].seed or chunk.start >= kept[-1].stop:
            kept.append(chunk)
    return kept


def _left(extent: Extent, done: list[Chunk], pace: _Pace, in_time: Callable[[], bool]) -> Iterator[Chunk]:
    """Tasks for what is not done, the seeds in turn, each as large as the pace says at its time."""
    gaps = {seed: _gaps(extent, [c for c in done if c.seed == seed]) for seed in extent.seeds}
    at: dict[int, tuple[int, int | None] | None] = {seed: next(found, None) for seed, found in gaps.items()}
    while any(gap is not None for gap in at.values()):
        for seed, gap in at.items():
            if gap is None:
                continue
            if not in_time():
                return
            start, end = gap
            stop = start + pace.cases if end is None else min(end, start + pace.cases)
            yield Chunk(seed, start, stop)
            at[seed] = next(gaps[seed], None) if stop == end else (stop, end)


def _gaps(extent: Extent, done: list[Chunk]) -> Iterator[tuple[int, int | None]]:
    """(start, end) of what one seed has not done, ascending; the last is open where only time ends it."""
    start = 0
    for chunk in done:
        if chunk.start > start:
            yield start, chunk.start
        start = chunk.stop
    if extent.cases is None:
        yield start, None
    elif start < extent.cases:
        yield start, extent.cases


def _noted(tasks: Iterator[Chunk], under_way: set[Chunk]) -> Iterator[Chunk]:
    for chunk in tasks:
        under_way.add(chunk)
        yield chunk
