"""What becomes of bad calls: each is tried in a child process, where it may loop, fill the memory or crash.

The limits are counts and sizes; the clock only ends what no count can, a loop inside of C. All of these ends
have one name, so that the machine decides nothing.
"""

from __future__ import annotations

import contextlib
import faulthandler
import math
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Literal

from verifier.gate.hostile import BadCall
from verifier.gate.loading import Loaded, looking_into
from verifier.gate.raised import is_by_name, is_interruption
from verifier.gate.returned import NoMapError, Returned, returned_map
from verifier.model.numbers import NUMBER_LIMIT
from verifier.symbolic.layout import SymbolicMap
from verifier.symbolic.reading import symbolic_map

STEPS = 1_000_000
"""Lines of Python that one call may run."""
MEMORY = 1 << 30
"""Bytes that one call may take."""
PADDING = 100_000
"""Cells of padding that one map may have."""
PROCESSOR_SECONDS = 4
WALL_SECONDS = 120.0

Kind = Literal["refused", "raised", "endless", "map", "no map", "too large"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one bad call came to.

    Attributes:
        kind: ``refused`` by an exception that is meant for the caller, ``raised`` any other one, ``endless``
            where a limit ended it; ``map`` or ``no map`` where it returned; ``too large`` for a map with
            numbers that no tensor has.
        words: the exception, or why what it returned is no map.
        returned: the map.
    """

    kind: Kind
    words: str
    returned: Returned | None = None


ENDLESS = Outcome("endless", "does not come to an end")


class _Endless(BaseException):
    """A limit was reached; no ``except Exception`` of the constructor may catch it."""


def attempt_all(loaded: Loaded, calls: Sequence[BadCall]) -> list[Outcome]:
    """The outcome of each call, in order."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(calls):
        outcomes += _in_a_child(loaded, calls[len(outcomes) :])
    return outcomes


def _in_a_child(loaded: Loaded, calls: Sequence[BadCall]) -> list[Outcome]:
    """The outcomes up to the first call that ends the child, that one included."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(there, loaded, calls), daemon=True)
    child.start()
    there.close()
    outcomes: list[Outcome] = []
    try:
        while len(outcomes) < len(calls) and here.poll(WALL_SECONDS):
            outcomes.append(here.recv())
    except EOFError:
        pass
    finally:
        child.kill()
        child.join()
        here.close()
    return outcomes if len(outcomes) == len(calls) else [*outcomes, ENDLESS]


def _work(there: Connection, loaded: Loaded, calls: Sequence[BadCall]) -> None:
    """Try each call; runs in the child, whose output nobody reads."""
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        looking_into(loaded.folder),
    ):
        for descriptor in (1, 2):  # what code in C writes
            os.dup2(nowhere.fileno(), descriptor)
        for call in calls:
            _limit()
            there.send(attempted(loaded, call))


def _limit() -> None:
    """Set the limits of the next call."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + PROCESSOR_SECONDS, most))
    with contextlib.suppress(OSError, ValueError):
        pages = int(open("/proc/self/statm").read().split()[0])  # noqa: SIM115
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, most))


def attempted(loaded: Loaded, call: BadCall) -> Outcome:
    """One call, in this process."""
    try:
        with _counting(STEPS):
            made = loaded.call(**call.arguments)
            return _read(made)
    except (_Endless, MemoryError):
        return ENDLESS
    except NoMapError as error:
        return Outcome("no map", str(error))
    except BaseException as error:
        if is_interruption(error):
            raise
        words = f"{type(error).__name__}: {error}"
        return Outcome("refused" if is_by_name(loaded, error) else "raised", " ".join(words.split()))


def _read(made: object) -> Outcome:
    """What was returned, as a map."""
    found = symbolic_map(made)
    if _padding(found) > PADDING:
        return Outcome("too large", f"over {PADDING} cells of padding")
    try:
        return Outcome("map", "", returned_map(made))
    except ValueError as error:
        if _is_too_large(found):
            return Outcome("too large", str(error))
        raise NoMapError(str(error)) from None


def _padding(found: SymbolicMap) -> int:
    """Cells that would have to be listed one by one."""
    views = [view for shard in found.ranks.values() for view in shard.padding]
    return sum(math.prod(extent.constant or 0 for extent in view.shape) for view in views)


def _is_too_large(found: SymbolicMap) -> bool:
    numbers = [*found.logical_shape]
    for shard in found.ranks.values():
        numbers += shard.shard_shape
    for _, _, piece in found.pieces():
        for view in (piece.source, piece.dest):
            numbers += (view.offset, *view.shape, *view.strides)
    return any(abs(number.constant or 0) >= NUMBER_LIMIT for number in numbers)


@contextlib.contextmanager
def _counting(steps: int) -> Iterator[None]:
    """Ends a loop in Python after a number of lines."""
    left = steps

    def count(_frame: FrameType, _event: str, _argument: object) -> Callable[..., Any]:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Endless
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)
