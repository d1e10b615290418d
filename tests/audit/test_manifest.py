"""Manifests: the right verdict for the right cause, and what is malformed is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import columns, piece, shard_map
from verifier.audit.check import Settings
from verifier.audit.corpus import cases_in, replay
from verifier.audit.manifest import REASONS, Entry, ManifestError, read_manifest, replay_entry
from verifier.certificates.encode import map_to_json
from verifier.diagnostics.codes import CODES

RIGHT = map_to_json(columns(3, 2, 2))
WRONG = map_to_json(shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])}))


def write(folder: Path, *entries: object) -> Path:
    (folder / "right.json").write_text(json.dumps(RIGHT))
    (folder / "wrong.json").write_text(json.dumps(WRONG))
    (folder / "broken.json").write_text("{")
    path = folder / "manifest.json"
    path.write_text(json.dumps(list(entries)))
    return path


def entry(path: str, verdict: str, *reasons: str) -> dict[str, object]:
    return {"path": path, "verdict": verdict, "reasons": list(reasons), "note": "for people"}


@pytest.mark.parametrize(
    ("path", "verdict", "reasons", "agrees"),
    [
        ("right.json", "proved", [], True),
        ("right.json", "refuted", ["gap"], False),
        ("wrong.json", "refuted", ["gap"], True),
        ("wrong.json", "refuted", ["overlap", "gap"], True),
        ("wrong.json", "refuted", ["bad-scale"], False),
        ("wrong.json", "refuted", [], True),
        ("wrong.json", "proved", [], False),
        ("broken.json", "unreadable", ["whatever people say"], True),
        ("missing.json", "proved", [], False),
    ],
)
def test_an_entry_agrees_in_verdict_and_cause(
    path: str, verdict: str, reasons: list[str], agrees: bool, tmp_path: Path
) -> None:
    (found,) = read_manifest(write(tmp_path, entry(path, verdict, *reasons)))
    assert replay_entry(found, Settings()).agrees is agrees


@pytest.mark.parametrize(
    "content",
    ["{", "{}", '["x"]', '[{"path": "x"}]', '[{"path": "x", "verdict": "fine", "reasons": []}]'],
)
def test_a_malformed_manifest_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(ManifestError, match=r"manifest\.json"):
        read_manifest(path)


def test_a_reason_that_nobody_knows_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, entry("wrong.json", "refuted", "bad-karma"))
    with pytest.raises(ManifestError, match="unknown reason 'bad-karma'"):
        read_manifest(path)


def test_every_reason_names_codes_that_exist() -> None:
    known = {code.code for code in CODES}
    for codes in REASONS.values():
        assert codes
        assert codes <= known


def test_files_beside_a_manifest_belong_to_it_and_other_folders_do_not(tmp_path: Path) -> None:
    inside, outside = tmp_path / "files", tmp_path / "maps"
    inside.mkdir()
    outside.mkdir()
    write(inside, entry("right.json", "proved"))
    case = {"name": "w", "map": WRONG, "expect": {"verdict": "refuted", "codes": ["SM301"]}}
    (outside / "case.json").write_text(json.dumps(case))
    cases = cases_in(tmp_path)
    assert cases == [outside / "case.json", Entry(inside / "right.json", "proved", ())]
    assert [replayed.agrees for replayed in replay(cases, Settings())] == [True, True]
