"""README shows what really happens."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from tests.cli.command import ROOT, shardproof

README = ROOT / "README.md"
EXAMPLE = re.compile(r"<!-- example: shardproof ([^>]*?) -->\n```text\n(.*?)```\n", re.DOTALL)


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_examples_show_the_real_output(request: pytest.FixtureRequest) -> None:
    text = README.read_text(encoding="utf-8")
    assert EXAMPLE.search(text)

    def real(match: re.Match[str]) -> str:
        output = shardproof(*match[1].split()).out
        return f"<!-- example: shardproof {match[1]} -->\n```text\n{output}```\n"

    expected = EXAMPLE.sub(real, text)
    if request.config.getoption("--bless"):
        README.write_text(expected, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == expected


def test_python_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    first, second = out.getvalue().split("\n", 1)
    assert first == "SM301"
    assert second.startswith("Proved(")


def test_links_resolve() -> None:
    for page in (README, *(ROOT / "docs").rglob("*.md"), *(ROOT / "corpora").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_command_is_in_the_table() -> None:
    listed = set(re.findall(r"^\| `shardproof (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE))
    shown = re.findall(r"^  (\w+)  ", shardproof("--help").out.split("Commands:")[1], re.MULTILINE)
    assert listed == set(shown)


def test_ci_runs_the_command_that_readme_shows() -> None:
    script = Path(".ci/run").read_text(encoding="utf-8")
    assert "<!-- test-command -->" in script
    assert os.access(".ci/run", os.X_OK)
