"""``shardproof cases add``: what is written, what is printed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzz.cli.cases import command
from fuzz.shrinking.answer import answer_to
from fuzz.shrinking.descent import steps
from fuzz.shrinking.example import Example
from tests.cli.command import CORPUS, shardproof
from verifier.formats import read

MAPS = CORPUS / "maps"
COLLISION = MAPS / "dest-collision-columns.json"
HALF = {
    "shard_shape": [2],
    "pieces": [{"shape": [2], "source": [0, [1]], "dest": [0, [1]], "locations": [0]}],
}


def cases(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, ["add", *map(str, arguments)], standalone_mode=False)


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def example(path: Path) -> Example:
    (subject,) = read(path).subjects
    return Example(subject.shard_map, subject.expectation)


def test_a_broken_map_becomes_a_least_case(tmp_path: Path) -> None:
    ran = cases(COLLISION, "--to", tmp_path / "new", "--name", "collision")
    assert ran.exit_code == 0, ran.exception
    path = only(tmp_path / "new")
    assert path.name == "collision.json"
    assert ran.output == (
        f"wrote {path}: refuted (SM201); 6 pieces became 2\nreplay it with: shardproof replay {path}\n"
    )
    kept, before = example(path), example(COLLISION)
    assert answer_to(kept) == answer_to(before)
    assert [step for step in steps(kept) if answer_to(step) == answer_to(kept)] == []
    stated = json.loads(path.read_text())
    assert stated["what"] == "two pieces of rank 0 write the same shard address"
    assert stated["source"] == str(COLLISION)
    assert shardproof("replay", path).code == 0


def test_without_shrinking_the_map_stays(tmp_path: Path) -> None:
    ran = cases(
        COLLISION, "--to", tmp_path, "--no-shrink", "--what", "Columns.", "--source", "owner/project#1"
    )
    path = only(tmp_path)
    assert "became" not in ran.output
    assert example(path).shard_map.ranks == example(COLLISION).shard_map.ranks
    stated = json.loads(path.read_text())
    assert (stated["what"], stated["source"]) == ("Columns.", "owner/project#1")


def test_a_right_map_stays_as_it_is(tmp_path: Path) -> None:
    right = MAPS / "split-rows-uneven-tp4.json"
    ran = cases(right, "--to", tmp_path)
    assert ran.output.startswith(f"wrote {only(tmp_path)}: proved\n")
    assert example(only(tmp_path)).shard_map.ranks == example(right).shard_map.ranks


def test_the_same_case_is_not_written_again(tmp_path: Path) -> None:
    cases(COLLISION, "--to", tmp_path, "--name", "first")
    ran = cases(COLLISION, "--to", tmp_path, "--name", "second")
    assert ran.exit_code == 0
    assert ran.output.startswith(f"already there as {tmp_path / 'first.json'}: refuted (SM201)")
    assert only(tmp_path).name == "first.json"


def test_many_maps_of_a_document(tmp_path: Path) -> None:
    params = {name: {"logical_shape": [size], "ranks": {"0": HALF}} for name, size in (("a", 2), ("b", 4))}
    (tmp_path / "maps.json").write_text(json.dumps({"version": 1, "params": params}))
    ran = cases(tmp_path / "maps.json", "--to", tmp_path / "new", "--no-shrink")
    assert [line.split(": ")[1] for line in ran.output.splitlines()[::2]] == ["proved", "refuted (SM301)"]
    assert len(list((tmp_path / "new").iterdir())) == 2
    refused = cases(tmp_path / "maps.json", "--to", tmp_path / "new", "--name", "one")
    assert "--name is for one map" in str(refused.exception)


def test_a_reference_shows_what_soundness_cannot(tmp_path: Path) -> None:
    for name, first in (("before", 0), ("after", 2)):
        pieces = [
            {"shape": [2], "source": [at, [1]], "dest": [cell, [1]], "locations": [0]}
            for at, cell in ((0, first), (2, 2 - first))
        ]
        document = {"logical_shape": [4], "ranks": {"0": {"shard_shape": [4], "pieces": pieces}}}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    ran = cases(tmp_path / "after.json", "--reference", tmp_path / "before.json", "--to", tmp_path / "new")
    assert "refuted (SM501)" in ran.output
    assert example(only(tmp_path / "new")).shard_map.numel == 2
    two = {"version": 1, "params": {n: {"logical_shape": [2], "ranks": {"0": HALF}} for n in "ab"}}
    (tmp_path / "two.json").write_text(json.dumps(two))
    refused = cases(COLLISION, "--reference", tmp_path / "two.json", "--to", tmp_path / "new")
    assert "holds 2 maps; --reference takes one" in str(refused.exception)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "SM001"),
        ('{"version": 1, "params": {}}', "holds no map"),
        ('{"logical_shape": [-1], "ranks": {}}', "SM104"),
        ('{"logical_shape": [9999999], "ranks": {}}', "no walk can confirm"),
    ],
)
def test_what_cannot_be_a_case_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "map.json").write_text(text)
    ran = cases(tmp_path / "map.json", "--to", tmp_path / "new", "--no-shrink")
    assert isinstance(ran.exception, click.ClickException)  # shardproof turns it into exit code 2
    assert words in str(ran.exception)
    assert not (tmp_path / "new").exists()


def test_another_case_of_that_name_is_kept(tmp_path: Path) -> None:
    cases(COLLISION, "--to", tmp_path, "--name", "taken")
    before = only(tmp_path).read_text()
    ran = cases(MAPS / "scale-zero.json", "--to", tmp_path, "--name", "taken")
    assert isinstance(ran.exception, click.ClickException)
    assert "is another case" in str(ran.exception)
    assert only(tmp_path).read_text() == before


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = cases(COLLISION, "--to", tmp_path / "file" / "below")
    assert isinstance(ran.exception, click.ClickException)


@pytest.mark.parametrize("checkpoint", ["dcp/shard0_w4", "dcp/damaged/chunk_shifted"])
def test_parameters_that_are_stored_as_blocks_are_cases_too(checkpoint: str, tmp_path: Path) -> None:
    """A checkpoint of blocks only was read, nothing was written, and the exit code was 0."""
    path = CORPUS / "files" / checkpoint
    ran = cases(path, "--to", tmp_path / "found")
    assert ran.exit_code == 0, ran.exception
    parameters = {one.boxes.name for one in read(path).boxes if one.is_parameter}
    assert ran.output.count("replay it with") == len(parameters) > 0
    assert shardproof("replay", tmp_path / "found").code == 0
    assert ("refuted" in ran.output) == ("damaged" in checkpoint)


def test_a_document_without_a_map_of_a_parameter_is_no_success(tmp_path: Path) -> None:
    ran = cases(CORPUS / "files/optim/missing_moment.pt", "--to", tmp_path / "found")
    assert isinstance(ran.exception, click.ClickException)
    assert not (tmp_path / "found").exists()
