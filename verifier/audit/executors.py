"""Where tasks run: this process, processes of this machine, or a cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

WATCH_SECONDS = 1.0
AHEAD = 2
"""Tasks given out per worker, so that none waits for the next one."""


class NoClusterError(Exception):
    """The scheduler cannot be used; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Workers:
    """An executor, and how many tasks it works on at once."""

    executor: Executor
    count: int


class _InProcess(Executor):
    """Runs each task when it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


IN_PROCESS = Workers(_InProcess(), 1)
"""This process alone."""


@contextmanager
def workers(
    jobs: int = 1, scheduler: str | None = None, *, apart: bool = False, start: str | None = None
) -> Iterator[Workers]:
    """Workers for tasks; those of the cluster at ``scheduler`` where one is given.

    One worker is this process, unless it has to be ``apart``: code that may take its process down. ``start``
    is how processes are started, "spawn" where this one has threads; the platform's way when None.

    Raises:
        NoClusterError: dask.distributed is not installed, or nothing answers there.
    """
    if scheduler is not None:
        with _cluster(scheduler) as found:
            yield found
    elif jobs == 1 and not apart:
        yield IN_PROCESS
    else:
        from concurrent.futures import ProcessPoolExecutor  # one process need not pay for it
        from multiprocessing import get_context

        context = get_context(start)
        with ProcessPoolExecutor(jobs, context, initializer=_serve, initargs=(os.getpid(),)) as pool:
            yield Workers(pool, jobs)


def _serve(parent: int) -> None:
    """A worker leaves interruptions to its parent, and ends when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        from distributed import Client
    except ImportError:
        raise NoClusterError("dask.distributed is not installed: pip install 'shardproof[cluster]'") from None
    try:
        connect: Any = Client
        client = connect(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise NoClusterError(f"no scheduler answers at {address}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise NoClusterError(
                f"the scheduler at {address} has no workers; start one with: dask worker {address}"
            )
        executor = client.get_executor(pure=False)
        try:
            yield Workers(executor, threads)
        finally:
            executor.shutdown(wait=False)


def in_any_order(found: Workers, task: Callable[[T], R], inputs: Iterator[T]) -> Iterator[tuple[T, R]]:
    """Each input with its result, as they come; a few inputs per worker are taken ahead.

    Stopping the iteration forgets what has not begun.
    """
    pending: dict[Future[R], T] = {}
    try:
        while True:
            while len(pending) < (AHEAD * found.count if found.count > 1 else 1):
                following = next(inputs, None)
                if following is None:
                    break
                pending[found.executor.submit(task, following)] = following
            if not pending:
                return
            ready, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in ready:
                yield pending.pop(future), future.result()
    finally:
        for future in pending:
            future.cancel()


def in_order(found: Workers, task: Callable[[T], R], inputs: Iterator[T]) -> Iterator[R]:
    """The result of each input, in the order of the inputs; a few inputs per worker are taken ahead.

    Stopping the iteration forgets what has not begun.
    """
    pending: deque[Future[R]] = deque()
    try:
        for following in inputs:
            pending.append(found.executor.submit(task, following))
            while len(pending) >= (AHEAD * found.count if found.count > 1 else 1):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
