"""A fuzzing session: a target in a process of its own for some seconds, and what came of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.targets.catalogue import SEEDS
from fuzz.targets.replaying import fault_line

MAX_LEN, INPUT_SECONDS, SEED = 4096, 30, 1
TAIL = 40
"""Lines of the fuzzer's output that are shown when it stops early."""
MISSING = (
    "coverage-guided fuzzing needs atheris, which is not installed: pip install 'shardproof[fuzz]'\n"
    "(inputs can be replayed without it: --replay FILE...)"
)
COVERAGE = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)")
FAULTY = ("crash-", "timeout-", "oom-", "leak-")
"""How libFuzzer calls inputs that show a fault; others are only slow."""


class CannotRunError(Exception):
    """The fuzzer did not start, or ended without saying why; the message says what is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How a target is fuzzed.

    Attributes:
        target: its name.
        seconds: for how long.
        corpus: inputs to start from; ``SEEDS`` of the target when None.
        artifacts: where inputs that show a fault are put; made when there is one.
        rss: most memory of the process, in MiB.
        keep: whether inputs with new coverage are added to ``corpus``.
    """

    target: str
    seconds: int
    corpus: Path | None = None
    artifacts: Path = Path("artifacts")
    rss: int = 2048
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a session came to.

    Attributes:
        summary: one line of counts.
        faults: inputs that show a fault.
        output: the end of the fuzzer's own words; empty when there is no fault.
    """

    summary: str
    faults: tuple[Path, ...]
    output: str

    def words(self, target: str) -> Iterator[str]:
        """What people should see."""
        if self.faults:
            yield self.output
        yield f"{target}: {self.summary}"
        for path in self.faults:
            yield fault_line(target, path, path.stat().st_size)


def fuzz(session: Session) -> Outcome:
    """Fuzz a target until the time is over or a fault is found.

    Raises:
        CannotRunError: atheris is not installed, or the process ended in a way that is no finding.
    """
    if find_spec("atheris") is None:
        raise CannotRunError(MISSING)
    corpus = session.corpus or SEEDS / session.target
    with TemporaryDirectory(prefix="shardproof-fuzz-") as folder:
        found, odd = Path(folder, "corpus"), Path(folder, "artifacts")
        found.mkdir()
        odd.mkdir()
        options = (
            *(f"-max_total_time={session.seconds}", f"-rss_limit_mb={session.rss}", f"-max_len={MAX_LEN}"),
            *(
                f"-timeout={INPUT_SECONDS}",
                f"-seed={SEED}",
                f"-artifact_prefix={odd}/",
                "-print_final_stats=1",
            ),
        )
        status, output = _child(session.target, *options, str(found), *_existing(corpus))
        faults = tuple(_kept(odd, session.artifacts / session.target))
        if status and not faults:
            raise CannotRunError(f"{_end(output)}\nthe fuzzer ended with status {status} and no input")
        if session.keep and not faults:
            corpus.mkdir(parents=True, exist_ok=True)
            status, merging = _child(
                session.target, "-merge=1", f"-max_len={MAX_LEN}", str(corpus), str(found)
            )
            if status:
                raise CannotRunError(f"{_end(merging)}\nmerging ended with status {status}")
        return Outcome(_summary(output), faults, _end(output) if faults else "")


def _existing(corpus: Path) -> tuple[str, ...]:
    return (str(corpus),) if corpus.is_dir() else ()


def _child(target: str, *arguments: str) -> tuple[int, str]:
    """The status and the words of the fuzzer. Hashes are fixed: the same seed should do the same."""
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "fuzz.targets.child", target, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _kept(odd: Path, artifacts: Path) -> Iterator[Path]:
    """The inputs that show a fault, moved to where they stay."""
    for path in sorted(odd.iterdir()):
        if path.name.startswith(FAULTY):
            artifacts.mkdir(parents=True, exist_ok=True)
            yield Path(shutil.copy(path, artifacts / path.name))


def _summary(output: str) -> str:
    stats = dict(re.findall(r"stat::(\w+): +(\d+)", output))
    points = COVERAGE.findall(output)
    first, last = (points[0], points[-1]) if points else (("0",) * 3, ("0",) * 3)
    executed = int(stats.get("number_of_executed_units", 0))
    return (
        f"{executed} inputs, {stats.get('average_exec_per_sec', 0)} a second, "
        f"edges {first[0]} -> {last[0]}, features {first[1]} -> {last[1]}, "
        f"corpus {first[2]} -> {last[2]}, {stats.get('peak_rss_mb', 0)} MiB"
    )


def _end(output: str) -> str:
    return "\n".join(output.splitlines()[-TAIL:])
