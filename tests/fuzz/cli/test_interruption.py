"""A campaign that is told to end, or killed, leaves its results and no process behind."""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE = 300.0
"""Seconds, on a machine that is busy with other tests."""
SLOW = "import time\n\ndef check(entry):\n    time.sleep(0.1)\n"
COMMAND = """
import signal
from verifier.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored in the background
main()
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    (tmp_path / "slow.py").write_text(SLOW)
    arguments = ["fuzz", "--target", "slow.py:check", "--time", "10m", "-j", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], cwd=tmp_path, text=True, stderr=subprocess.PIPE
    )
    wait_until(lambda: rows(tmp_path) >= 2)
    yield process
    process.kill()
    process.wait()


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.1)


def rows(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'shardproof-fuzz.sqlite'}?mode=ro", uri=True) as connection:
            (count,) = connection.execute("select count(*) from chunks").fetchone()
    except sqlite3.OperationalError:  # not there yet
        return 0
    return int(count)


def children(process: "subprocess.Popen[str]") -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_campaign(
    campaign: "subprocess.Popen[str]", sent: int, tmp_path: Path
) -> None:
    wait_until(lambda: len(children(campaign)) == 2)
    workers = children(campaign)
    campaign.send_signal(sent)
    _, said = campaign.communicate(timeout=PATIENCE)
    assert campaign.returncode == (-signal.SIGKILL if sent == signal.SIGKILL else 130)
    assert sent == signal.SIGKILL or "the same command goes on there" in said
    assert "Traceback" not in said
    wait_until(lambda: not any(map(alive, workers)))
    assert rows(tmp_path) >= 2
