"""Functions of the user may raise anything and draw what they like; a person can always stop."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType

import numpy as np
import pytest
import torch

from fuzz.consumers.calling import Raised, TimeLimitError, called


def answer(call: Callable[[], object], *, seconds: float = 0) -> object:
    return called(call, seed=3, seconds=seconds)


def raising(error: BaseException) -> Callable[[], object]:
    def raises() -> object:
        raise error

    return raises


@pytest.mark.parametrize("error", [ValueError(), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_whatever_is_raised_is_an_answer(error: BaseException) -> None:
    found = answer(raising(error))
    assert isinstance(found, Raised)
    assert found.error is error


def catching_everything() -> str:
    try:
        interrupt()
    except BaseException:
        return "goes on"
    return "was not interrupted"


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)


@pytest.mark.parametrize("call", [interrupt, catching_everything])
def test_a_person_who_interrupts_stops_the_campaign(call: Callable[[], object]) -> None:
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            answer(call)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)


@pytest.fixture
def terminated() -> Iterator[None]:
    """SIGTERM raises SystemExit."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(number)

    before = signal.signal(signal.SIGTERM, leave)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("terminated")
def test_a_system_that_shuts_down_stops_the_campaign() -> None:
    with pytest.raises(SystemExit):
        answer(lambda: os.kill(os.getpid(), signal.SIGTERM))


def test_signals_that_are_ignored_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert answer(lambda: os.kill(os.getpid(), signal.SIGINT)) is None
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_call_that_takes_too_long_is_ended() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    found = answer(lambda: time.sleep(600), seconds=0.05)
    assert isinstance(found, Raised)
    assert isinstance(found.error, TimeLimitError)
    assert str(found.error) == "took longer than 0.05 s"
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_time_limit_that_is_not_reached_does_nothing_later() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    left, _ = answer(lambda: signal.getitimer(signal.ITIMER_REAL), seconds=600)  # type: ignore[misc]
    assert 0 < left <= 600
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_in_another_thread_there_are_no_signals() -> None:
    found: list[object] = []
    errors = (KeyboardInterrupt(), None)

    def work() -> None:
        found.extend(answer(raising(error) if error else lambda: "done", seconds=1) for error in errors)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [Raised(errors[0]), "done"]  # type: ignore[arg-type]


def drawn() -> tuple[float, float, float]:
    return random.random(), float(np.random.random()), float(torch.rand(1))


def test_random_numbers_begin_at_the_seed_and_go_on_outside_where_they_were() -> None:
    random.seed(8)
    np.random.seed(8)
    torch.manual_seed(8)
    first, second = drawn(), drawn()
    random.seed(8)
    np.random.seed(8)
    torch.manual_seed(8)
    assert drawn() == first
    inside = answer(drawn)
    assert drawn() == second
    assert answer(drawn) == inside != first
    assert called(drawn, seed=4, seconds=0) != inside


def test_threads_take_turns_and_leave_memory_as_it_was() -> None:
    before = np.empty, np.empty_like
    turns: list[int] = []
    begun, leave = threading.Event(), threading.Event()

    def inside(number: int) -> None:
        turns.append(number)
        begun.set()
        leave.wait()
        turns.append(number)

    threads = [threading.Thread(target=answer, args=(partial(inside, number),)) for number in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()
    time.sleep(0.05)  # in which the others come to wait, or not: they may not enter in any case
    leave.set()
    for thread in threads:
        thread.join()
    assert turns[::2] == turns[1::2]
    assert sorted(turns[::2]) == [0, 1, 2]
    assert (np.empty, np.empty_like) == before
