"""Metadata that is a sound pickle of the right classes, with a dict, list, tuple or record in it changed."""

from __future__ import annotations

import io
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.formats.audited import said
from tests.formats.dcp.checkpoints import keys_by_identity, metadata_of
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, outcome
from tests.formats.structural import variants
from verifier.formats import FormatError, Limits, Request, read
from verifier.formats.dcp.contents import Contents
from verifier.formats.dcp.names import DCP
from verifier.formats.dcp.stubs import load_stubs
from verifier.formats.dcp.tree import contents_of
from verifier.formats.pickles.tree import read_pickle
from verifier.model.origin import Origin

SAMPLE = SAMPLES / "dcp" / "uneven_w4"
ORIGIN = Origin("")


def mutants() -> list[bytes]:
    """Pickles of the sample's metadata, each with one change."""
    metadata = pickle.loads((SAMPLE / ".metadata").read_bytes())
    with keys_by_identity():
        return [pickle.dumps(variant) for variant in variants(metadata)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "checkpoint"))


def contents(load: Any) -> Contents | str:
    """What is made of a tree, or the code of the refusal."""
    try:
        return contents_of(load(), ORIGIN, Limits())
    except FormatError as error:
        return error.code


def test_every_change_of_structure_is_judged(folder: Path) -> None:
    original = identity(read(folder))
    found = []
    for mutant in mutants():
        (folder / ".metadata").write_bytes(mutant)
        found.append(outcome(folder, "dcp", original))
    assert len(found) > 300
    assert {*found} >= {"refused", "refuted", "equal"}
    # Most places of the metadata say something about tensors or where they are stored.
    assert found.count("refuted") + found.count("refused") > 0.8 * len(found)


def test_both_ways_to_read_agree_on_every_change_of_structure() -> None:
    for mutant in mutants():
        inert = contents(lambda data=mutant: read_pickle(data, DCP, ORIGIN, Limits()))
        assert contents(lambda data=mutant: load_stubs(io.BytesIO(data), DCP, ORIGIN)) == inert


@pytest.mark.parametrize("inert_bytes", [Limits().metadata_inert_bytes, 0], ids=["inert", "child"])
def test_chunks_of_which_none_has_an_entry_are_missing(folder: Path, inert_bytes: int) -> None:
    with metadata_of(folder) as metadata:
        metadata.storage_data = {}
    assert said(folder, limits=Limits(metadata_inert_bytes=inert_bytes)).codes == ("CK111",)
    document = read(folder, request=Request(limits=Limits(metadata_inert_bytes=inert_bytes)))
    assert "storage entries" not in document.checks
