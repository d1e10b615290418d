"""Two documents compared: which side lacks what, in the words of the command and of the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import CORPUS, shardproof

DCP = CORPUS / "files/dcp"


def said(*arguments: str | Path) -> str:
    ran = shardproof(*arguments)
    assert ran.code == 1
    return " ".join(ran.out.split())


@pytest.mark.parametrize("form", ["text", "concise"])
def test_every_view_says_which_side_lacks_a_name(form: str) -> None:
    out = said("diff", DCP / "shard0_w4", DCP / "uneven_w4", "--format", form)
    assert out.count("B has no map of this name, A has one") == 4
    assert out.count("A has no map of this name, B has one") == 2


@pytest.mark.parametrize("form", ["text", "concise"])
def test_every_view_says_what_the_reference_lacks(form: str) -> None:
    out = said("audit", DCP / "shard0_w4", "--reference", DCP / "shard1_w4", "--format", form)
    assert 'the reference has no parameter "norm"' in out


def test_neither_document_of_a_comparison_is_the_reference() -> None:
    maps = CORPUS / "maps"
    out = said("diff", maps / "four-block-fused-qkv-tp2.json", maps / "dest-collision-columns.json")
    assert "B has logical_shape [4, 12]" in out
    assert "the reference" not in out
    out = said("diff", DCP / "uneven_w4", DCP / "shard0_w4")
    assert "in A shape [10, 3], in B shape [8, 6]" in out


def test_stored_blocks_are_no_ranks() -> None:
    out = said("diff", DCP / "shard0_w4", DCP / "hsdp_2x2")
    assert "in A chunks [0, 1, 2, 3], in B chunks [0, 1]" in out
    assert "ranks [" not in out


def test_a_shape_that_a_file_states_is_one_value(tmp_path: Path) -> None:
    (tmp_path / "shapes.json").write_text('{"w": [6, 8]}')
    out = said("audit", DCP / "shard0_w4", "--expect-shapes", tmp_path / "shapes.json", "--format", "concise")
    assert "the file of expected shapes states [6, 8], the map [8, 6]" in out


def test_a_reference_is_not_called_the_expected_shapes() -> None:
    out = said("audit", DCP / "shard0_w4", "--reference", DCP / "shard1_w4")
    assert "error[SM501] not-the-reference" in out
    assert "the reference has shape [6, 8]" in out
    assert "expected shapes" not in out
