"""docs/gate.md is true: its functions are gated with the exit codes that stand beside its commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import torch

from tests.cli.command import ROOT, shardproof

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^shardproof (gate .*?) +# exit (\d)$", PAGE, re.MULTILINE)


def test_there_are_examples_of_both_kinds() -> None:
    assert set(FILES) == {"padded.py", "shards.py", "loaders.py", "models.py"}
    assert len(COMMANDS) == 7


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_a_command_ends_as_the_page_says(
    command: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "uneven" in command and not torch.__version__.startswith("2.13."):
        pytest.skip("this is about torch 2.13")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    ran = shardproof(*shlex.split(command))
    assert (ran.code, ran.err) == (int(code), "")


def test_the_loader_of_the_page_has_the_bug_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug = "0 * width, width)  # should be rank * width"
    assert bug in FILES["loaders.py"]
    (tmp_path / "loaders.py").write_text(FILES["loaders.py"].replace(bug, "rank * width, width)"))
    monkeypatch.chdir(tmp_path)
    reference = ("--reference", "loaders.py:as_trained")
    ran = shardproof("gate", "--lift", "loaders.py:loading", "--loader", "--ranks", "4", *reference)
    assert ran.code == 0
