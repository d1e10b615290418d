"""Running one case in a process of its own, forked, with a limit on time and memory."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import re
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from verifier.oracle.errors import OracleError, OracleUnavailableError

SECONDS = 30.0
"""Wall time of one case; nothing that is probed takes a second."""
MEBIBYTES = 4096
"""Address space that one case may take beyond what its process begins with."""
MOST_BYTES = 16 << 20
"""Of one answer."""
END = b"\n"
"""No JSON that is written in one line holds it; what a case leaves running may hold the pipe open."""
POLL_SECONDS = 0.05
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""Of terminals; torch puts them into some messages."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Said:
    """The case returned this."""

    value: Json


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended before the case did.

    Attributes:
        how: "SIGSEGV" or another signal, "exit 3", or "took over 30 s".
    """

    how: str


class CaseError(OracleError):
    """A case raised: a fault of the probe itself, which catches what an optimizer raises.

    Attributes:
        reason: the exception in one short line; the text has where it was raised.
    """

    def __init__(self, text: str, reason: str) -> None:
        self.reason = reason
        super().__init__(text)


def words(error: BaseException) -> str:
    """An exception in one short line."""
    said = " ".join(_COLOURS.sub("", str(error)).split())
    return f"{type(error).__name__}: {said}"[:160] if said else type(error).__name__


def isolated(
    case: Callable[[], Json], *, seconds: float = SECONDS, mebibytes: int = MEBIBYTES, threads: int = 1
) -> Said | Died:
    """What ``case`` returns in a forked process, or how that process ended.

    The process computes with one thread: those of its parent do not survive a fork. With more ``threads`` it
    hangs where its parent has already used some, and is ended by the limit. Memory that torch hands out holds
    NaN until it is written.

    Raises:
        OracleUnavailableError: this platform cannot fork.
        CaseError: the case raised.
    """
    if not hasattr(os, "fork"):
        raise OracleUnavailableError("a probe forks a process for each case, which this platform cannot")
    importlib.import_module("torch._dynamo")  # torch imports it in the first step, for seconds in every child
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(case, writing, mebibytes, threads)
    os.close(writing)
    ended = False
    try:
        data = _read(reading, child, time.monotonic() + seconds)
        ended = data is not None
    finally:
        os.close(reading)
        status = _reaped(child, ended)
    return Died(f"took over {seconds:g} s") if data is None else _answer(data, status)


def _reaped(child: int, ended: bool) -> int:
    """The status of the child; whatever it has started and left running ends with it."""
    if ended:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _work(case: Callable[[], Json], writing: int, mebibytes: int, threads: int) -> None:
    """What the child does. It never returns, and runs nothing that its parent meant to run at its own end."""
    code = 1
    try:
        os.setpgid(0, 0)
        gc.disable()  # a collection writes to every object of the parent, whose pages are then copied
        _limit(mebibytes)
        _silence()
        torch.set_num_threads(threads)
        # Memory that torch hands out and nobody has written holds NaN, and not what luck has left in it.
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            answer: dict[str, Json] = {"said": case()}
        except Exception as error:  # the parent raises it
            answer = {"raised": traceback.format_exc(limit=-6), "reason": words(error)}
        data = json.dumps(answer).encode() + END
        while data:
            data = data[os.write(writing, data) :]
        code = 0
    finally:
        os._exit(code)


def _limit(mebibytes: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + (mebibytes << 20), most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _silence() -> None:
    """A process that is expected to crash says so to nobody."""
    faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)


def _answer(data: bytes, status: int) -> Said | Died:
    if os.WIFSIGNALED(status):
        return Died(signal.Signals(os.WTERMSIG(status)).name)
    if os.WEXITSTATUS(status) or not data:
        return Died(f"exit {os.WEXITSTATUS(status)}")
    answer = json.loads(data)
    if "raised" in answer:
        raise CaseError(f"a probe failed by itself: {answer['raised']}", answer["reason"])
    return Said(answer["said"])


def _read(reading: int, child: int, deadline: float) -> bytes | None:
    """The answer, or what there is of it once the child is gone.

    None where it takes too long or is far too much.
    """
    data, gone = b"", False
    while len(data) <= MOST_BYTES and time.monotonic() < deadline:
        if select.select([reading], [], [], 0 if gone else POLL_SECONDS)[0]:
            chunk = os.read(reading, 1 << 16)
            data += chunk
            if not chunk or data.endswith(END):
                return data
        elif gone:
            return data
        else:
            gone = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    return None
