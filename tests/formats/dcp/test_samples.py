"""Recorded distributed checkpoints of torch and Megatron-core: verdicts, and both ways to read them."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.counting import calls_at_most
from tests.formats.audited import replay_entry
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, mutants, outcome
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import FormatError, Limits, Request, read

ENTRIES = [
    entry
    for entry in read_manifest(SAMPLES / "manifest.json")
    if entry.path.relative_to(SAMPLES).parts[0].startswith(("dcp", "megatron"))
]
FOLDERS = [entry.path for entry in ENTRIES if [*entry.path.glob("*.metadata"), *entry.path.glob(".metadata")]]
IN_CHILD = replace(Limits(), metadata_inert_bytes=0)
MUTANTS = 300
MORE = 5
"""Times the calls that the sound checkpoint takes."""


def label(value: object) -> str:
    path = value if isinstance(value, Path) else value.path  # type: ignore[attr-defined]
    return str(path.relative_to(SAMPLES))


@pytest.mark.parametrize("entry", ENTRIES, ids=label)
def test_recorded_checkpoints_have_their_verdict(entry: Any) -> None:
    assert replay_entry(entry, Settings()).agrees


def test_every_recorded_checkpoint_is_replayed() -> None:
    heads = [label(entry).partition("/")[0] for entry in ENTRIES]
    assert (heads.count("dcp"), heads.count("megatron")) == (23, 10)
    assert sum(head.startswith("dcp_") for head in heads) == 13


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_a_child_process_makes_the_same_document(folder: Path) -> None:
    documents = [
        read(folder, request=Request(limits=limits, payload=True)) for limits in (Limits(), IN_CHILD)
    ]
    assert documents[0] == documents[1]


@pytest.mark.parametrize(
    ("form", "sample"), [("dcp", "dcp/uneven_w4"), ("megatron", "megatron/v012_torch_dist_flat")]
)
def test_mutants_are_refused_equal_or_judged(form: str, sample: str, tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLES / sample, tmp_path / "mutant")
    original = identity(read(folder))
    with calls_at_most(1_000_000) as calls:
        assert outcome(folder, form, original) == "equal"
    data = (folder / ".metadata").read_bytes()
    seen = set()
    for mutant in mutants(data, seed=5, count=MUTANTS):
        (folder / ".metadata").write_bytes(mutant)
        with calls_at_most(MORE * calls[0]):
            seen.add(outcome(folder, form, original))
    assert {"refused", "refuted", "equal"} <= seen


@pytest.mark.parametrize("sample", ["dcp/uneven_w4", "megatron/v012_torch_dist_flat"])
def test_a_child_process_survives_mutants(sample: str, tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLES / sample, tmp_path / "mutant")
    data = (folder / ".metadata").read_bytes()
    codes = set()
    for mutant in mutants(data, seed=6, count=15):
        (folder / ".metadata").write_bytes(mutant)
        with contextlib.suppress(FormatError):
            codes |= {refusal.code for refusal in read(folder, request=Request(limits=IN_CHILD)).refusals}
    assert codes <= {"SM001", "SM002", "SM003", "SM004", "SM005", "SM103", "SM104", "SM109"}
