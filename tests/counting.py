"""How much is done, in calls and not in seconds: a machine that is slow or busy does as many as any other."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

CALLING = ("call", "c_call")


@contextmanager
def calls_at_most(most: int) -> Iterator[list[int]]:
    """Fail what calls functions, of Python or of C, more than ``most`` times, as soon as it does.

    The list holds their number afterwards.
    """
    counted = [0]

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        if event in CALLING:
            counted[0] += 1
            if counted[0] > most:
                pytest.fail(f"more than {most} calls")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield counted
    finally:
        sys.setprofile(before)


@contextmanager
def no_hang(seconds: int = 300) -> Iterator[None]:
    """Fail what goes on inside of C where no call can be counted; a machine decides nothing, it is long."""

    def over(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"no end within {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
