"""Inputs given to a target one by one, without a fuzzer."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fuzz.targets.catalogue import one_input_of


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that shows a fault, and how."""

    target: str
    path: Path
    error: Exception

    def __str__(self) -> str:
        trace = "".join(traceback.format_exception(self.error))
        size = self.path.stat().st_size
        return f"{trace}\n{fault_line(self.target, self.path, size)}"


def fault_line(target: str, path: Path, size: int) -> str:
    """Which input shows a fault, and the command that shows it again."""
    command = shlex.join(["python", "-m", "fuzz.targets", target, "--replay", str(path)])
    return f"fault: target {target}, input {path} ({size} bytes); again with: {command}"


def replay(target: str, paths: Iterable[Path]) -> list[Failure]:
    """The inputs on which the target raises.

    Raises:
        OSError: an input cannot be read.
    """
    one_input = one_input_of(target)
    failures = []
    for path in paths:
        data = path.read_bytes()
        try:
            one_input(data)
        except Exception as error:  # whatever comes out is a fault
            failures.append(Failure(target, path, error))
    return failures
