"""The report on the installed DeepSpeed, on a small share of its cases."""

from pathlib import Path

import pytest

from fuzz.consumers.deepspeed_release import NotInstalledError, release
from fuzz.consumers.dossier import PARTS, main

try:
    release("affine")
except NotInstalledError as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("dossier")
    paths = [folder / name for name in ("one.md", "two.md")]
    for jobs, path in zip("12", paths, strict=True):
        store = str(path.with_suffix(".sqlite"))
        arguments = ["--share", "0.004", "--size", "40", "-j", jobs, "--store", store]
        assert main([*arguments, "--report", str(path)]) == 0
    one, two = (path.read_text("utf-8") for path in paths)
    assert one.replace("one.md", "") == two.replace("two.md", "")
    return one


def test_every_part_is_there_with_the_command_that_runs_it_alone(written: str) -> None:
    for part in PARTS:
        assert f"## {part.title}" in written
        assert f"--layouts {part.layouts} --mutants {part.mutants} --size 40" in written


def test_what_is_silently_wrong_is_flagged_and_shown(written: str) -> None:
    assert "operations silently wrong; shardproof flags every one of these maps.**" in written
    examples = written.partition("## Examples")[2]
    assert examples.count("- **silently wrong**, ") >= 3
    shown = [example for example in examples.split("\n- ") if "silently wrong" in example]
    assert all("  clean `{" in example for example in shown if "  map `{" in example)


def test_the_command_of_the_report_can_be_repeated(written: str, tmp_path: Path) -> None:
    command = written.splitlines()[2]
    assert command.startswith(
        "Command: `python -m fuzz.consumers.dossier --seed 1 --size 40 --share 0.004 --report "
    )
