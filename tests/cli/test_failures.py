"""Lost output, paths that name nothing, devices that do not exist: exit 2, one message, no traceback."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, ROOT, shardproof
from verifier.oracle.errors import DeviceUnavailableError

RIGHT = CORPUS / "maps/four-block-fused-qkv-tp2.json"
WRONG = CORPUS / "maps/dest-collision-columns.json"
RUN = (sys.executable, "-c", "from verifier.cli.main import main; main()")


def one_line(text: str, *parts: str) -> None:
    assert "Traceback" not in text
    assert text.startswith("Error: ")
    assert all(len(line) <= 100 for line in text.splitlines())
    for part in parts:
        assert part in " ".join(text.split())


PRINTING = (
    (0, "--help"),
    (0, "audit", "-h"),
    (1, "audit", WRONG),
    (0, "replay", RIGHT, "-v"),
    (0, "show", WRONG),
    (1, "diff", RIGHT, WRONG),
    (0, "explain", "SM201"),
    (2, "certify", ROOT / "missing"),
)


@pytest.mark.parametrize(("code", "arguments"), [(code, rest) for code, *rest in PRINTING], ids=str)
@pytest.mark.parametrize("closed", [False, True], ids=["reader-gone", "closed"])
def test_no_verdict_depends_on_who_reads_it(code: int, arguments: list[str | Path], closed: bool) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as out:
        ran = subprocess.run(
            [*RUN, *arguments],
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=(lambda: os.close(1)) if closed else None,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (code, b"")


def test_files_are_written_whole_though_no_stream_is_open(tmp_path: Path) -> None:
    report = tmp_path / "run.json"
    ran = subprocess.run(
        [*RUN, "audit", WRONG, "--json-output", report],
        preexec_fn=lambda: os.closerange(0, 3),
        check=False,
    )
    assert ran.returncode == 1
    assert json.loads(report.read_text())["schema"] == "shardproof.report/1"


def test_messages_that_nobody_reads_change_no_exit_code() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as err:
        ran = subprocess.run([*RUN, "audit"], stdout=subprocess.PIPE, stderr=err, check=False)
    assert (ran.returncode, ran.stdout) == (2, b"")


def test_another_pipe_that_breaks_is_no_refutation(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("verifier.cli.audit.audit_paths", broken)
    ran = shardproof("audit", WRONG)
    assert ran.code == 70
    assert "bug[TB103]" in ran.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk() -> None:
    with Path("/dev/full").open("w") as out:
        ran = subprocess.run(
            [*RUN, "audit", WRONG], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == 2
    one_line(ran.stderr, "No space left on device")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("audit", "{}"), ("replay", "{}"), ("audit", RIGHT, "--device", "x")])
def test_a_device_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise DeviceUnavailableError("'cuda:99' is not a device that torch knows")

    monkeypatch.setattr("verifier.audit.oracle_notes.replay_in_child", refuse)
    arguments = [str(argument).replace("{}", str(RIGHT)) for argument in command]
    ran = shardproof(*arguments, "--oracle")
    assert ran.code == 2
    one_line(ran.err, "'cuda:99' is not a device that torch knows", "choose another --device")


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", ""),
        ("audit", RIGHT, ""),
        ("replay", ""),
        ("certify", ""),
        ("diff", "", RIGHT),
        ("show", ""),
        ("render", ""),
        ("audit", RIGHT, "--json-output", ""),
        ("audit", RIGHT, "--certificates", ""),
    ],
    ids=str,
)
def test_the_empty_path_is_not_this_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str | Path, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = shardproof(*arguments)
    assert ran.code == 2
    assert "an empty path names nothing" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "render", "certify", "audit", "diff"])
def test_file_names_cannot_act_on_the_terminal(tmp_path: Path, command: str) -> None:
    name = tmp_path / "evil\x1b[31m\nError: forged.json"
    for content in (None, "{}", '{"version": 1, "params": {}}'):
        if content is not None:
            name.write_text(content)
        ran = shardproof(command, name, *([name] if command == "diff" else []))
        assert ran.code in (1, 2, 4)
        assert "\x1b" not in ran.out + ran.err
        assert "\nError: forged" not in ran.out + ran.err
        assert all(len(line) <= 100 for line in ran.err.splitlines())


def test_a_replayed_file_name_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "evil\x1b[31m.json").write_text("{}")
    ran = shardproof("replay", tmp_path)
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert "evil\\x1b[31m.json" in ran.out


@pytest.mark.parametrize(("command", "mebibytes"), [("certify", 128), ("render", 256)])
def test_a_file_over_the_limit_is_not_read(tmp_path: Path, command: str, mebibytes: int) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(mebibytes * 2**20 + 1)  # sparse: it takes no room
    ran = shardproof(command, large)
    assert ran.code == 2
    assert f"larger than {mebibytes} MiB" in " ".join((ran.out + ran.err).split())
