"""Many cases against one target: which are left to do, done by workers, kept in a store, summed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from fuzz.cases import case_at
from fuzz.executors import Workers, in_any_order
from fuzz.outcomes import DISAGREEMENT, Tally, finding
from fuzz.store import Chunk, Store
from fuzz.target import Target

CHUNK = 420
"""Cases of a task. Part of what a store means: chunks that are done are found again by their bounds."""


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

    def chunks(self) -> Iterator[Chunk]:
        """Every task, the seeds in turn."""
        for start in count(0, CHUNK) if self.cases is None else range(0, self.cases, CHUNK):
            stop = start + CHUNK if self.cases is None else min(start + CHUNK, self.cases)
            for seed in self.seeds:
                yield Chunk(seed, start, stop)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a campaign is. ``before`` are the cases that an earlier run had done."""

    tally: Tally
    cases: int
    before: int


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


def run_chunk(target: Target, chunk: Chunk) -> Tally:
    """The cases of one task."""
    tally = Tally()
    for index in range(chunk.start, chunk.stop):
        tally.merge(run_case(target, chunk.seed, index))
    tally.count("cases", times=chunk.stop - chunk.start)
    return tally


def run_campaign(
    target: Target,
    extent: Extent,
    store: Store,
    found: Workers,
    *,
    shown: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """All cases of the extent that the store does not have yet; the sum of all that it has of the extent.

    The sum does not depend on the workers nor on interruptions, unless time ended the campaign.
    """
    started, done = time.monotonic(), store.done()
    total = Tally()
    for chunk in _kept(extent, done):
        total.merge(store.tally(chunk))
    before = total.counts["cases",]
    progress = Progress(total, before, before)
    shown(progress)

    def left() -> Iterator[Chunk]:
        for chunk in extent.chunks():
            if extent.seconds is not None and time.monotonic() - started >= extent.seconds:
                return
            if chunk not in done:
                yield chunk

    for chunk, tally in in_any_order(found, partial(run_chunk, target), left()):
        store.keep(chunk, tally)
        total.merge(tally)
        progress = Progress(total, total.counts["cases",], before)
        shown(progress)
    return progress


def _kept(extent: Extent, done: set[Chunk]) -> Sequence[Chunk]:
    """The chunks of the extent that are done: all there are where only time limits it."""
    if extent.cases is not None:
        return [chunk for chunk in extent.chunks() if chunk in done]
    whole = [chunk for chunk in done if chunk.stop - chunk.start == CHUNK and chunk.start % CHUNK == 0]
    return sorted((chunk for chunk in whole if chunk.seed in extent.seeds), key=lambda c: (c.start, c.seed))
