"""Calls of functions of the user's, which may raise anything, print, draw random numbers or never return."""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

import numpy as np
import torch

from fuzz.consumers.memory import poisoned_memory

T = TypeVar("T")

STOPPING = (signal.SIGINT, signal.SIGTERM)
"""What a person, or a system that shuts down, stops a campaign with."""


@dataclass(frozen=True, slots=True)
class Raised:
    """What a function raised instead of returning."""

    error: BaseException


class TimeLimitError(BaseException):
    """A call took too long. No ``Exception``, so that the function itself rarely catches it."""


def called(call: Callable[[], T], *, seed: int, seconds: float) -> T | Raised:
    """What a call returns or raises, be it ``SystemExit`` or ``KeyboardInterrupt``.

    While it runs, memory is poisoned, the global random numbers of Python, numpy and torch begin at the seed,
    and what is printed goes to stderr. In the main thread it is ended after so many seconds (0 for no limit),
    unless it is in foreign code that does not come back to Python.

    Raises:
        BaseException: what the handler of a signal to stop raised, also where the function caught it: that
            is for the campaign.
    """
    stopped: list[BaseException] = []
    try:
        with (
            _stops_noted(stopped),
            poisoned_memory(),
            _seeded(seed),
            redirect_stdout(sys.stderr),
            _time_limit(seconds),
        ):
            made: T | Raised = call()
    except BaseException as error:
        made = Raised(error)
    if stopped:
        raise stopped[0]
    return made


@contextmanager
def _stops_noted(stopped: list[BaseException]) -> Iterator[None]:
    """What the handlers of signals to stop raise is kept, apart from what the function may do with it.

    Only the main thread gets signals.
    """
    if not _in_main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in STOPPING}
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, _noting(handler, stopped))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)


def _noting(
    handler: Callable[[int, FrameType | None], object], stopped: list[BaseException]
) -> Callable[[int, FrameType | None], None]:
    def noted(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as error:
            stopped.append(error)
            raise

    return noted


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises in the main thread when the time is over, and never after the block."""
    if not _in_main_thread():
        yield
        return
    running = True

    def over(number: int, frame: FrameType | None) -> None:
        if running:
            raise TimeLimitError(f"took longer than {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, over)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        try:
            yield
        finally:
            running = False  # should the time be over just before this, it cannot be over once more
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Global random numbers begin at the seed; those of others go on afterwards where they were."""
    python, arrays, tensors = random.getstate(), np.random.get_state(), torch.get_rng_state()
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)  # of the processor alone: torch.manual_seed wakes devices
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)
        torch.set_rng_state(tensors)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
