"""Lost output, paths that name nothing, devices that do not exist: exit 2, one message, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof
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


@pytest.mark.parametrize("arguments", [("--help",), ("audit", "-h"), ("audit", WRONG)], ids=str)
def test_a_reader_that_went_away(arguments: tuple[str | Path, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as out:
        ran = subprocess.run([*RUN, *arguments], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    one_line(ran.stderr, "the results could not be written: Broken pipe")
    assert ran.stderr.count("\n") == 1


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
