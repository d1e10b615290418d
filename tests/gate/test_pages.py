"""The examples of the explain pages do what the pages say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.gate.command import gate
from verifier.diagnostics.codes import code_of
from verifier.diagnostics.pages import page_of

EXIT = {"SM601": 1, "SM602": 3, "SM603": 1, "SM604": 0, "SM605": 0, "SM606": 2}


@pytest.mark.parametrize("code", EXIT)
def test_the_example_of_a_page_yields_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(code_of(code)) or ""
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (command,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (tmp_path / "example.py").write_text(source, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == ["shardproof", "gate"]
    ran = gate(*words[2:], "--format", "concise")
    assert re.findall(r"\[(SM6\d\d)\]", ran.out)[:1] == [code]
    assert ran.code == EXIT[code]
