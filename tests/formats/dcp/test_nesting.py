"""``planner_data`` of a distributed checkpoint: which place in the nested state each stored name has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint._nested_dict import flatten_state_dict, unflatten_state_dict
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

from tests.formats.audited import said
from tests.formats.dcp.checkpoints import metadata_of, saved
from verifier.formats import Limits
from verifier.formats.dcp.contents import Nesting, Several
from verifier.formats.dcp.nesting import nesting_of

__all__ = ["saved"]

STATE: dict[str, Any] = {
    "model": {"q": torch.ones(4, 4), "k": torch.zeros(4, 4), "list": [1, {"x": torch.ones(2)}]}
}
Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dcp.save(STATE, checkpoint_id=tmp_path / "checkpoint", no_dist=True)
    return tmp_path / "checkpoint"


def twice(paths: dict[str, Any]) -> None:
    paths["model.q"] = paths["model.k"]


def swapped(paths: dict[str, Any]) -> None:
    paths["model.q"], paths["model.k"] = paths["model.k"], paths["model.q"]


def taken(paths: dict[str, Any]) -> None:
    """The path of a name that has none itself."""
    paths["model.q"] = paths.pop("model.k")


@pytest.mark.parametrize("inert_bytes", [Limits().metadata_inert_bytes, 0], ids=["inert", "child"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (twice, 'the names "model.q" and "model.k" have one path in planner_data'),
        (swapped, 'the names "model.q" and "model.k" are crossed in planner_data'),
        (taken, 'the names "model.q" and "model.k" are crossed in planner_data'),
    ],
    ids=["twice", "swapped", "taken"],
)
def test_a_name_at_the_place_of_another_is_seen(
    folder: Path, change: Change, words: str, inert_bytes: int
) -> None:
    with metadata_of(folder) as metadata:
        change(metadata.planner_data)
        flat, _ = flatten_state_dict(STATE)
        stored = {name: flat[name] for name in metadata.planner_data}
        nested = unflatten_state_dict(stored, metadata.planner_data)
    # As load_sharded_optimizer_state_dict builds the state again.
    assert nested["model"].get("q") is not STATE["model"]["q"]
    found = said(folder, limits=Limits(metadata_inert_bytes=inert_bytes))
    assert found.codes == ("CK118",)
    assert words in found.sentences[0]
    assert said(folder / ".metadata").codes == ("CK118",)


def lost(paths: dict[str, Any]) -> None:
    del paths["model.q"]


def ghost(paths: dict[str, Any]) -> None:
    paths["model.ghost"] = ("model", "ghost")


def moved(paths: dict[str, Any]) -> None:
    paths["model.q"] = ("model", "other")


def test_a_converted_checkpoint_lacks_one_of_two_names_at_one_place(folder: Path) -> None:
    with metadata_of(folder) as metadata:
        twice(metadata.planner_data)
    dcp_to_torch_save(folder, folder.with_name("converted.pt"))
    assert {*torch.load(folder.with_name("converted.pt"))["model"]} == {"k", "list"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lost, 'the name "model.q" has no path in planner_data'),
        (ghost, 'the name "model.ghost" has a path in planner_data and nothing else'),
        (moved, 'the path in planner_data of "model.q" is not made of its parts, others are'),
    ],
    ids=["lost", "ghost", "moved"],
)
def test_names_on_one_side_only_are_a_warning(folder: Path, change: Change, words: str) -> None:
    with metadata_of(folder) as metadata:
        change(metadata.planner_data)
    found = said(folder)
    assert (found.codes, found.warnings) == ((), ("CK205",))
    assert words in found.sentences[0]


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        "mine",
        [("model", "q")],
        {"model.q": "mine", "model.k": 3},
        {"model.q": ["model", "q"]},
        {"model.q": ("model", 1.5)},
        {"model.q": ("model", 2**70)},
        {1: ("model", "q")},
        {name: ("renamed", name) for name in ("model.q", "model.k", "model.list.0", "model.list.1.x")},
    ],
    ids=["none", "empty", "text", "list", "texts", "lists", "fraction", "huge", "numbers", "renamed"],
)
def test_what_other_planners_keep_there_is_not_judged(folder: Path, value: object) -> None:
    with metadata_of(folder) as metadata:
        metadata.planner_data = value
    found = said(folder)
    assert (found.verdict, found.warnings) == ("proved", ())


@pytest.mark.parametrize("name", ["fsdp2", "fsdp2-tp", "plain", "ranks", "fsdp1-dcp"])
def test_names_and_paths_that_torch_writes_agree(saved: Path, name: str) -> None:
    found = said(saved / name, payload=True)
    assert (found.verdict, found.warnings) == ("proved", ())


def test_each_way_is_counted() -> None:
    paths = {"a.x": ("a", "x"), "b": ("b",), "c": ("b",), "d": ("b",), "e": ("f",), "f": ("e",)}
    paths |= {"g": ("h",), "0.1": (0, 1)}
    assert nesting_of(paths, {*paths, "new"} - {"a.x", "b"}) == Nesting(
        shared=Several(2, '"c" and "b"'),
        exchanged=Several(2, '"e" and "f"'),
        moved=Several(1, '"g"'),
        unstored=Several(2, '"a.x"'),
        unplaced=Several(1, '"new"'),
    )
