"""Running one case in a process of its own, forked, with a limit on time and memory."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from verifier.oracle.errors import OracleUnavailableError

SECONDS = 20.0
MEBIBYTES = 4096


@dataclass(frozen=True, slots=True)
class Ended:
    """What a case said, or how its process ended: said is None then."""

    said: str | None
    died: str = ""


def isolated(case: Callable[[], str], *, seconds: float = SECONDS, mebibytes: int = MEBIBYTES) -> Ended:
    """What ``case`` returns, in a forked process.

    Raises:
        OracleUnavailableError: this platform cannot fork.
    """
    if not hasattr(os, "fork"):
        raise OracleUnavailableError(
            "probing an optimizer forks a process for each case; this platform cannot"
        )
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run(case, writing, mebibytes)
    os.close(writing)
    try:
        return _waited(child, reading, seconds)
    finally:
        os.close(reading)


def _run(case: Callable[[], str], writing: int, mebibytes: int) -> None:
    """The child: never returns."""
    code = 1
    try:
        limit = mebibytes << 20
        with contextlib.suppress(ValueError, OSError):
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        text = json.dumps(case())
        os.write(writing, text.encode())
        code = 0
    finally:
        os._exit(code)


def _waited(child: int, reading: int, seconds: float) -> Ended:
    ready, _, _ = select.select([reading], [], [], seconds)
    if not ready:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return Ended(None, f"took over {seconds:g} s")
    data = b""
    while chunk := os.read(reading, 65536):
        data += chunk
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Ended(None, signal.Signals(os.WTERMSIG(status)).name)
    if os.WEXITSTATUS(status) or not data:
        return Ended(None, f"exit {os.WEXITSTATUS(status)}")
    said = json.loads(data)
    return Ended(said if isinstance(said, str) else None)
