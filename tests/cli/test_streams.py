"""What is printed suits the stream it is printed on: its encoding, its width."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof

WRONG = CORPUS / "maps/dest-collision-columns.json"
NAME = "\u00fcn\u00ef c\u00f8d\u00e9 \u4e2d.json"
RUN = (sys.executable, "-c", "from verifier.cli.main import main; main()")


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path(NAME)
    path.write_text(WRONG.read_text())
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_a_path_is_printed_as_it_is_where_the_stream_has_its_characters(named: Path, encoding: str) -> None:
    for arguments in (["audit", named], ["audit", named, "--format", "concise"], ["show", "\u00fc.json"]):
        ran = subprocess.run(
            [*RUN, *arguments],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            check=False,
        )
        expected = str(arguments[1]).encode(encoding, "backslashreplace")
        assert expected in ran.stdout + ran.stderr
        assert ran.returncode == (2 if arguments[0] == "show" else 1)


def ran_on_terminal(columns: int, *arguments: str | Path) -> list[str]:
    """The lines that a command prints on a terminal so wide."""
    controller, terminal = pty.openpty()
    subprocess.run(["stty", "rows", "24", "cols", str(columns)], stdin=terminal, check=True)
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment["NO_COLOR"] = "1"
    with subprocess.Popen([*RUN, *arguments], stdout=terminal, env=environment) as running:
        os.close(terminal)
        parts = []
        while True:
            try:
                parts.append(os.read(controller, 4096))
            except OSError:  # the last writer is gone
                break
    assert running.returncode == 1
    os.close(controller)
    return b"".join(parts).decode().splitlines()


@pytest.mark.parametrize(("columns", "widest"), [(70, 70), (20, 60), (300, 100)])
def test_reports_are_as_wide_as_the_terminal_within_bounds(columns: int, widest: int) -> None:
    lines = ran_on_terminal(columns, "audit", WRONG)
    assert widest - 20 < max(map(len, lines)) <= widest


@pytest.mark.parametrize(
    ("told", "widest"), [("70", 70), ("1", 60), ("999", 100), ("x", 100), ("9" * 5000, 100)]
)
def test_columns_holds_for_every_command(monkeypatch: pytest.MonkeyPatch, told: str, widest: int) -> None:
    monkeypatch.setenv("COLUMNS", told)
    for arguments in (("audit", WRONG), ("show", "a" * 300), ("replay", "a" * 300)):
        ran = shardproof(*arguments)
        lines = [line for line in (ran.out + ran.err).splitlines() if not line.startswith("Usage")]
        assert widest - 20 < max(map(len, lines)) <= widest


def test_files_have_no_terminals_width(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = []
    for told in ("", "60"):
        monkeypatch.setenv("COLUMNS", told)
        file = tmp_path / f"of{told}.xml"
        shardproof("audit", WRONG, "--junit-output", file)
        written.append(file.read_text())
    assert written[0] == written[1]
