"""docs/contracts.md is true: its documents are valid, and its commands end as it says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

from tests.cli.command import ROOT, shardproof
from verifier.contracts.cases import check_document, is_contract

PAGE = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
DOCUMENTS = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
COMMANDS = re.findall(r"^shardproof (contract .*?) +# exit code (\d)$", PAGE, re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if is_contract(one)])
def test_documents_are_valid(document: object) -> None:
    checked = check_document(document, "docs")
    assert (checked.verdict, checked.broken) == ("valid", ())


def test_every_kind_of_document_is_shown() -> None:
    kinds = {check_document(one, "docs").kind for one in DOCUMENTS if is_contract(one)}
    assert kinds == {"contract", "cut", "cuts", "bindings", "portable state"}


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_commands_end_as_the_page_says(command: str, code: str) -> None:
    assert shardproof(*command.split()).code == int(code)


def test_commands_of_every_kind_are_shown() -> None:
    assert {command.split()[1] for command, _ in COMMANDS} == {"check", "induce", "align", "simulate"}


SLICES = {
    "map": {
        "parameter": {"fqn": "layer.weight", "shape": [4, 3]},
        "layout": "dim_shard",
        "dim": 0,
        "group": {"name": "dp", "members": ["rank:0", "rank:1"]},
        "shards": [
            {"member": "rank:0", "offsets": [0, 0], "lengths": [2, 3]},
            {"member": "rank:1", "offsets": [2, 0], "lengths": [2, 3]},
        ],
    }
}
WHOLE = {
    "map": {
        "parameter": {"fqn": "layer.weight", "shape": [4, 3]},
        "layout": "replicated",
        "group": {"name": "dp", "members": ["rank:0", "rank:1"]},
        "shards": [{"member": f"rank:{rank}", "offset": 0, "length": 12} for rank in range(2)],
    }
}


@pytest.mark.parametrize(
    ("implementation", "cut", "code", "said"),
    [
        ("example.SGD", WHOLE, 0, "layer.weight: momentum_buffer: equal on every member"),
        ("example.SGD", SLICES, 1, "no initialised variant is for dim_shard"),
        ("example.ShardedAdam", SLICES, 0, "layer.weight: exp_avg: cut like its parameter"),
        ("example.ShardedAdam", WHOLE, 0, "layer.weight: exp_avg: equal on every member"),
    ],
)
def test_contracts_are_induced_where_the_page_says(
    implementation: str, cut: object, code: int, said: str, tmp_path: Path
) -> None:
    (contract,) = [one for one in DOCUMENTS if one.get("implementation") == implementation]
    (tmp_path / "contract.json").write_text(json.dumps(contract))
    (tmp_path / "cut.json").write_text(json.dumps(cut))
    ran = shardproof("contract", "induce", tmp_path / "contract.json", "--map", tmp_path / "cut.json")
    assert ran.code == code
    assert said in ran.out


@pytest.mark.parametrize(
    ("place", "key", "value", "pointer"),
    [
        ("training", "group", "required", "/training/1/group"),
        ("training", "group", None, "/training/1/group"),
        ("training", "mesh_dims", "one", "/training/1/mesh_dims"),
        ("training", "needs_full_matrix", "yes", "/training/1/needs_full_matrix"),
        ("checkpoints", "group", "required", "/checkpoints/0/group"),
        ("checkpoints", "collective", "yes", "/checkpoints/0/collective"),
    ],
)
def test_a_value_that_cannot_be_read_is_one_error(place: str, key: str, value: object, pointer: str) -> None:
    (document,) = [one for one in DOCUMENTS if one.get("implementation") == "example.ShardedAdam"]
    contract = copy.deepcopy(document)
    contract["checkpoints"][0].update(group="world", collective=True)
    contract[place][-1][key] = value
    checked = check_document(contract, "docs")
    assert [one.pointer for one in checked.broken] == [pointer]


def test_a_member_that_is_missing_is_one_error() -> None:
    (document,) = [one for one in DOCUMENTS if one.get("implementation") == "example.ShardedAdam"]
    contract = copy.deepcopy(document)
    del contract["training"][1]["group"]
    assert [one.message for one in check_document(contract, "docs").broken] == ["there is no group"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("precisions", ["float23"], "names of dtypes"),
        ("capabilities", {"fused": 1}, "true or false for a capability"),
        ("ranks", [-1], "a list of numbers of dimensions for ranks"),
    ],
)
def test_the_help_is_about_what_is_wrong(key: str, value: object, said: str, tmp_path: Path) -> None:
    (document,) = [one for one in DOCUMENTS if one.get("implementation") == "example.ShardedAdam"]
    (tmp_path / "contract.json").write_text(json.dumps({**document, key: value}))
    ran = shardproof("contract", "check", tmp_path / "contract.json")
    assert ran.code == 1
    assert said in " ".join(ran.out.split())
