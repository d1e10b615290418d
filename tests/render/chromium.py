"""A headless Chromium, driven by its own debugging protocol over two pipes."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "SHARDPROOF_CHROMIUM"
"""Names the program to run; without it, the first of ``NAMES`` on the path is."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = f"no Chromium: set {VARIABLE} or put one of {', '.join(NAMES)} on the path"

_SECONDS = 120.0
_LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads commands from descriptor 3 and writes answers to descriptor 4."""


def chromium() -> str | None:
    """The program, None where there is none; a variable that names none is an error, no reason to skip."""
    named = os.environ.get(VARIABLE)
    if named:
        if shutil.which(named) is None:
            raise FileNotFoundError(f"{VARIABLE} is {named!r}, which is no program")
        return shutil.which(named)
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Page:
    """One tab. Messages end with a zero byte; answers carry the number of their question."""

    commands: int
    answers: int
    session: str | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _rest: bytes = b""

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != number:
                self.events.append(answer)
                continue
            assert "error" not in answer, f"{method}: {answer['error']}"
            result = answer["result"]
            assert isinstance(result, dict)
            return result

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + _SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "Chromium does not answer"
            found = os.read(self.answers, 1 << 20)
            assert found, "Chromium has ended"
            self._rest += found
        message, _, self._rest = self._rest.partition(b"\0")
        answer = json.loads(message)
        assert isinstance(answer, dict)
        return answer

    def open(self, file: Path) -> None:
        """Load a file and wait until it is there."""
        self.ask("Page.navigate", url=file.as_uri())
        deadline = time.monotonic() + _SECONDS
        while self.value("document.readyState") != "complete" or self.value("location.href") != file.as_uri():
            assert time.monotonic() < deadline, "the page does not load"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What an expression comes to in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse there."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def screenshot(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are out of the way of descriptors 3 and 4."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


@contextmanager
def browser(program: str, profile: Path) -> Iterator[Page]:
    """A tab of a browser that ends with the block."""
    reads, commands = _pipe()
    answers, writes = _pipe()
    options = (
        *("--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(
            "--no-first-run",
            "--disable-dev-shm-usage",
            "--window-size=1200,1000",
            f"--user-data-dir={profile}",
        ),
    )
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(reads), str(writes), program, *options, "about:blank"],
        pass_fds=(reads, writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(reads)
    os.close(writes)
    page = Page(commands, answers)
    try:
        target = page.ask("Target.createTarget", url="about:blank")["targetId"]
        page.session = page.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.ask(f"{domain}.enable")
        yield page
        page.session = None
        page.ask("Browser.close")
        process.wait(_SECONDS)
    finally:
        process.kill()
        process.wait()
        os.close(commands)
        os.close(answers)
