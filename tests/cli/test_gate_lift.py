"""``shardproof gate --lift`` as people run it on code that makes no map."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest
from sarif_kit.validate import validation_errors

from tests.builders.modules import stand_in
from tests.cli.command import shardproof
from tests.cli.gated_code import LOADERS, SHARDS
from tests.conftest import Golden
from verifier.layouts import qkv
from verifier.oracle.lifted import Difference

FUSED = ("--shape", "16,3", "--ranks", "2")
LOADED = ("--loader", "--ranks", "2")
SPLIT = ("--reference", "verifier.layouts:split")
PROBE = "lifted with torch.int64, 1 digit pass; the same for a tensor of torch.float32"
LEFT = ("other dtypes than torch.int64 and torch.float32", "other shapes", "other numbers of ranks")
TRAINED = ("--reference", "shards.py:as_trained")


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shards.py").write_text(SHARDS, encoding="ascii")
    (tmp_path / "loaders.py").write_text(LOADERS, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("lift-proved", ("shards.py:rows", *FUSED), 0),
        ("lift-naive", ("shards.py:rows", *FUSED, *TRAINED), 1),
        ("lift-first-rows", ("shards.py:first_rows", *FUSED), 1),
        ("lift-padded", ("shards.py:padded", "--shape", "5,2", "--ranks", "2"), 0),
        ("lift-scaled", ("shards.py:halved", *FUSED), 0),
        ("lift-floats-differ", ("shards.py:floats_differ", *FUSED), 2),
        ("lift-no-map", ("shards.py:summed", *FUSED), 2),
        ("lift-loader", ("loaders.py:right", *LOADED, *TRAINED), 0),
        ("lift-loader-first-shard", ("loaders.py:first_shard", *LOADED, *TRAINED), 1),
        ("lift-loader-naive", ("loaders.py:naive", *LOADED, *TRAINED), 1),
        ("lift-loader-unwritten", ("loaders.py:keeps_tail", *LOADED), 1),
    ],
)
def test_messages(golden: Golden, name: str, arguments: tuple[str, ...], code: int) -> None:
    ran = shardproof("gate", "--lift", *arguments)
    assert ran.code == code, ran.err
    assert ran.err == ""
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    golden(f"{name}.txt", ran.out)


def test_a_reference_is_a_constructor_of_shape_and_ranks_or_a_file() -> None:
    gate = ("gate", "--lift", "shards.py:rows", "--shape", "5,2", "--ranks", "2")
    assert shardproof(*gate, "--reference", "verifier.layouts:split").code == 0
    assert shardproof(*gate, "--reference", "shards.py:as_padded").code == 1
    padded = ("gate", "--lift", "shards.py:padded", "--shape", "5,2", "--ranks", "2")
    assert shardproof(*padded, "--reference", "shards.py:as_padded").code == 0
    with open("trained.json", "w") as file:
        json.dump(affine(), file)
    ran = shardproof("gate", "--lift", "loaders.py:right", *LOADED, "--reference", "trained.json")
    assert ran.code == 0
    ran = shardproof("gate", "--lift", "loaders.py:naive", *LOADED, "--reference", "trained.json")
    assert (ran.code, "error[SM501]" in ran.out) == (1, True)


def affine() -> dict[str, object]:
    """The map of the fused projection as a document."""
    made = qkv(4, 2, 2, 3, 2)
    ranks = {
        str(rank): {
            "shard_shape": list(shard.shard_shape),
            "pieces": [
                {
                    "shape": list(piece.shape),
                    "source": [piece.source.offset, list(piece.source.strides)],
                    "dest": [piece.dest.offset, list(piece.dest.strides)],
                    "locations": list(piece.locations),
                }
                for piece in shard.pieces
            ],
        }
        for rank, shard in made.ranks.items()
    }
    return {"logical_shape": list(made.logical_shape), "ranks": ranks}


def test_few_ranks_stand_for_many() -> None:
    ran = shardproof("gate", "--lift", "shards.py:first_rows", "--shape", "16,3", "--ranks", "8", *SPLIT)
    assert ran.out.count("not its reference: rank") == 4
    assert "not its reference: 3 more ranks" in ran.out


def test_shards_state_the_order_of_the_parts() -> None:
    gate = ("gate", "--lift", "loaders.py:right", *LOADED, *TRAINED)
    assert shardproof(*gate, "--shards", "q,k,v").code == 0
    ran = shardproof(*gate, "--shards", "q, v, k")
    assert (ran.code, "error[SM501]" in ran.out) == (1, True)
    ran = shardproof(*gate, "--shards", "q,k")
    assert (ran.code, "the parts are q, k, v; the order asked for is q, k" in said(ran.out)) == (2, True)


def test_every_format_holds_the_same() -> None:
    gate = ("gate", "--lift", "shards.py:rows", *FUSED, *TRAINED)
    files = [f"--{form}-output={form}.out" for form in ("json", "sarif", "junit", "github")]
    assert shardproof(*gate, *files, "--format", "concise").code == 1
    text = shardproof(*gate).out
    report = json.loads(Path("json.out").read_text())
    (subject,) = report["subjects"]
    assert (subject["kind"], subject["name"]) == ("lifted map", "shards.py:rows")
    assert subject["place"] == {"file": "shards.py", "pointer": "", "line": 8, "column": 5}
    assert subject["notes"][0] == PROBE
    assert report["summary"]["unchecked"] == list(LEFT)
    assert all(note in said(text) for note in subject["notes"])
    assert report["tool"].keys() == {"name", "version", "python", "torch"}
    sarif = json.loads(Path("sarif.out").read_text())
    assert validation_errors(sarif) == []
    (run,) = sarif["runs"]
    (result,) = run["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], region["startLine"]) == ("SM501", 8)
    notes = [one["message"]["text"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert notes == [f"shards.py:rows: {PROBE}", *subject_differences(subject), *left("not checked: ")]
    junit = Path("junit.out").read_text()
    assert "note: shards.py:rows: lifted with" in junit
    assert all(f'name="unchecked" value="{clause}"' in junit for clause in LEFT)
    assert all(clause in Path("github.out").read_text() for clause in LEFT)
    assert all(clause in said(shardproof(*gate, "--format", "concise").out) for clause in LEFT)
    assert "file=shards.py,line=8,col=5" in Path("github.out").read_text()
    assert shardproof("render", "json.out").out == text


def left(start: str) -> list[str]:
    return [f"{start}{clause}" for clause in LEFT]


def subject_differences(subject: dict[str, list[str]]) -> list[str]:
    return [f"shards.py:rows: {note}" for note in subject["notes"][1:]]


def test_without_a_reference_it_is_open_whether_the_layout_is_the_intended_one() -> None:
    gate = ("gate", "--lift", "shards.py:rows", *FUSED)
    intended = "whether it is the intended layout (no --reference)"
    assert intended in said(shardproof(*gate).out)
    assert intended not in said(shardproof(*gate, *SPLIT).out)


def test_what_the_function_prints_is_no_result() -> None:
    ran = shardproof("gate", "--lift", "shards.py:chatty", *FUSED, "--format", "json")
    assert json.loads(ran.out)["summary"]["proved"] == 1
    assert "cutting" in ran.err


def test_torch_replays_the_lifted_map_where_it_is_told_to() -> None:
    ran = shardproof("gate", "--lift", "shards.py:first_rows", *FUSED, "--oracle")
    assert ran.code == 1
    assert "note: replayed in torch" in ran.out


def test_two_comparisons_that_disagree_are_a_bug_of_ours() -> None:
    differs = Difference(0, 3, 1, "element 3", "element 4")
    with mock.patch("verifier.oracle.lifted.compare_lifted", return_value=(differs,)):
        ran = shardproof("gate", "--lift", "loaders.py:right", *LOADED, *TRAINED, "--format", "concise")
    assert ran.code == 70
    assert "error[TB101] the map: two engines disagree: not its reference: rank 0" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("shards.py:absent", *FUSED), "shards.py has no 'absent'; its functions are as_padded"),
        (("absent.py:f", *FUSED), "there is no file absent.py"),
        (("shards.py:short", *FUSED), "rank 0: TypeError for a tensor of torch.int64: short() takes 2"),
        (("shards.py:leaves", *FUSED), "shards.py:leaves calls sys.exit(0)"),
        (("shards.py:rows", "--shape", "16,3", "--ranks", "17"), "rank 16: IndexError"),
        (("shards.py:rows", "--shape", "5000,5000", "--ranks", "2"), "more than 16777216 elements"),
        (("shards.py:rows", *FUSED, "--device", "cuda:99"), "device 'cuda:99' is not"),
        (("loaders.py:weight_loader", *LOADED), "rank 0: TypeError while the loading was made"),
        (("loaders.py:no_parts", *LOADED), "rank 0: its parts are no shapes by shard id"),
        (("loaders.py:raises", *LOADED), "rank 0: KeyError while the loading was made: 'qkv'"),
        (("shards.py:rows", *LOADED), "rank 0: TypeError while the loading was made"),
        (
            ("shards.py:rows", *FUSED, "--reference", "absent.json"),
            "the reference absent.json cannot be read",
        ),
        (
            ("shards.py:rows", *FUSED, "--reference", "absent.py:f"),
            "the reference: there is no file absent.py",
        ),
        (("shards.py:rows", *FUSED, "--reference", "shards.py:needs_more"), "also takes heads; wrap it"),
        (("shards.py:rows", *FUSED, "--reference", "shards.py:no_map"), "a NoneType is no map"),
    ],
)
def test_what_could_not_run_is_in_the_report(arguments: tuple[str, ...], words: str) -> None:
    ran = shardproof("gate", "--lift", *arguments, "--sarif-output", "out.sarif")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith("error[SM606] not-gated: ")
    assert words in said(ran.out)
    document = json.loads(Path("out.sarif").read_text())
    assert validation_errors(document) == []
    assert document["runs"][0]["invocations"][0]["exitCode"] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--lift", "shards.py:rows", "--ranks", "2"), "--lift needs --shape"),
        (("--lift", "shards.py:rows", "--shape", "8,3"), "--lift needs --ranks"),
        (("--lift", "shards.py:rows", "--shape", "8,-3", "--ranks", "2"), "--shape '8,-3': write numbers"),
        (("--lift", "shards.py:rows", "--shape", "8,3", "--ranks", "0"), "--ranks 0: with --lift"),
        (("--lift", "shards.py:rows", "--shape", "8,3", "--ranks", "0,1"), "--ranks 0,1: with --lift"),
        (("--lift", "loaders.py:right", *LOADED, "--shape", "8,3"), "--shape does not go with --loader"),
        (("--lift", "shards.py:rows", *FUSED, "--shards", "q"), "--shards goes with --loader"),
        (("--lift", "loaders.py:right", *LOADED, "--device", "cpu"), "--device says nothing with --loader"),
        (("--lift", "shards.py:rows", *FUSED, "--over", "rows=size"), "--over says nothing with --lift"),
        (("--lift", "shards.py:rows", *FUSED, "--strict"), "--strict says nothing with --lift"),
        (
            ("--lift", "shards.py:rows", *FUSED, "--write-tests", "d"),
            "--write-tests says nothing with --lift",
        ),
        (("--lift", "shards.py:rows", *FUSED, "--world", "4"), "it goes with --model"),
        (
            ("--lift", "shards.py:rows", *FUSED, "shards.py:as_trained"),
            "--lift gates one function, shards.py:rows, and shards.py:as_trained is another; gate it in",
        ),
        (("shards.py:as_trained", "--shape", "8,3"), "--shape says nothing without --lift or --model"),
        (("--ranks", "4"), "it goes with --lift and --model"),
    ],
)
def test_options_that_do_not_belong_together_are_refused_by_name(
    arguments: tuple[str, ...], words: str
) -> None:
    ran = shardproof("gate", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in said(ran.err)


def test_without_torch_the_extra_is_named() -> None:
    with stand_in({"torch": None}):
        ran = shardproof("gate", "--lift", "shards.py:rows", *FUSED)
    assert (ran.code, ran.out) == (2, "")
    assert "--lift needs torch, which cannot be imported: pip install 'shardproof[oracle]'" in said(ran.err)


def said(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())
