"""Replaying a manifest: real checkpoints, good and damaged, with the answer to each and its cause in words.

A manifest is a JSON list of objects with ``path`` (relative to the manifest), ``verdict`` and ``reasons``; a
reason is a word of ``REASONS``. An entry agrees when the verdict is the listed one and, if it is refuted,
when one of the findings has a code that stands for one of the reasons. Other members inform people.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verifier.audit.check import Settings
from verifier.audit.documents import audit_path
from verifier.audit.replayed import Replayed, same, words
from verifier.diagnostics.report import Subject, SubjectVerdict
from verifier.formats import Request

FILE = "manifest.json"

REASONS: dict[str, frozenset[str]] = {
    word: frozenset(codes.split())
    for word, codes in {
        "array-missing": "CK101 CK111",
        "bad-scale": "SM106",
        "bad-size": "CK113",
        "box-out-of-bounds": "CK108",
        "chunk-extra": "CK112",
        "chunk-missing": "CK111",
        "chunk_unreadable": "CK113 CK102",
        "dest-gap": "SM203",
        "duplicate_tensor": "CK106",
        "gap": "SM203 SM301 SM403 CK101 CK111",
        "length": "CK107 CK113 CK102 SM301",
        "local-shape": "CK114 SM204 SM507",
        "locations": "SM401 SM402 SM403",
        "metadata_missing": "CK101",
        "missing_file": "CK101",
        "missing_moment": "CK116",
        "missing_state": "CK116",
        "missing_tensor": "CK103 CK101",
        "moment_shape": "CK116",
        "negative_second_moment": "CK116",
        "not-a-size": "SM104 SM005 SM002 CK113",
        "not-divisible": "CK115",
        "object-missing": "CK111",
        "overlap": "SM301 SM302 SM403 CK104 CK106",
        "padding_not_declared": "CK117",
        "param_in_no_group": "CK116",
        "part_size": "CK117 CK113 SM507 SM204",
        "path-escapes": "CK109",
        "payload-dtype": "CK110",
        "payload-shape": "CK110",
        "range-past-end": "CK102",
        "rank-missing": "CK101 SM301 SM507",
        "rank-twice": "CK114",
        "ranks-disagree": "CK114 SM507",
        "replica_drift": "SM404",
        "scale-differs": "SM303",
        "shard-shape-vs-file": "SM507 SM204",
        "sharding-info-keys": "CK103 CK105 CK111",
        "sharding-without-param": "CK103 CK105 CK111",
        "size-mismatch": "CK113",
        "source-out-of-bounds": "SM102 CK108",
        "source_out_of_bounds": "SM102 CK108",
        "step_differs": "CK116",
        "storage-missing": "CK111",
        "storage_out_of_bounds": "CK102",
        "storage_overlap": "CK104",
        "tensor-not-in-index": "CK105",
        "total-size": "CK113",
        "total_size": "CK113",
        "unknown-axis": "CK115",
        "unknown-dtype": "SM002 CK113",
        "unlisted_tensor": "CK105",
        "unreadable_file": "CK102 SM001",
        "version": "SM004",
    }.items()
}
"""The codes that say a reason. What hides a hole (a file or block that is not there) says a gap, too."""

REQUEST = Request(payload=True, values=True)
"""Everything is looked at that can be."""

PARAMETERS = "params.json"
"""Beside an optimizer state, which does not store them: ``params_in_order`` with a name and a shape each."""

_BY_WEIGHT: tuple[SubjectVerdict, ...] = ("unchecked", "proved", "undecided", "refuted", "unreadable")


class ManifestError(Exception):
    """The file is no manifest; the text says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One checkpoint of a manifest with the right answer."""

    path: Path
    verdict: str
    reasons: tuple[str, ...]


def read_manifest(path: Path) -> list[Entry]:
    """The entries of a manifest.

    Raises:
        ManifestError: it cannot be read, or an entry is malformed or has a reason nobody knows.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError(f"{path}: {error}") from error
    if not isinstance(entries, list):
        raise ManifestError(f"{path}: a manifest is a list of entries")
    return [_entry(path, position, entry) for position, entry in enumerate(entries)]


def _entry(manifest: Path, position: int, entry: object) -> Entry:
    match entry:
        case {
            "path": str(path),
            "verdict": ("proved" | "refuted" | "unreadable") as verdict,
            "reasons": list(stated),
        }:
            reasons = stated if verdict == "refuted" else []
            unknown = [word for word in reasons if word not in REASONS]
            if unknown:
                raise ManifestError(f"{manifest}: entry {position} has the unknown reason {unknown[0]!r}")
            return Entry(manifest.parent / path, verdict, tuple(reasons))
    raise ManifestError(f"{manifest}: entry {position} lacks path, verdict or reasons")


def replay_entry(entry: Entry, settings: Settings) -> Replayed:
    """One checkpoint audited and compared with its answer."""
    subjects = audit_path(entry.path, settings, _request(entry.path)).subjects
    verdict = max((subject.verdict for subject in subjects), key=_BY_WEIGHT.index)
    codes = tuple(dict.fromkeys(_codes(subjects)))
    accepted = frozenset[str]().union(*(REASONS[word] for word in entry.reasons))
    agrees = same(entry.verdict, verdict) and (not accepted or bool(accepted & set(codes)))
    expected = words(entry.verdict, entry.reasons)
    return Replayed(str(entry.path), agrees, expected, words(verdict, codes), subjects)


def _request(path: Path) -> Request:
    """What is asked about one checkpoint."""
    beside = path.parent / PARAMETERS
    if not beside.is_file():
        return REQUEST
    listed = json.loads(beside.read_text(encoding="utf-8"))["params_in_order"]
    return replace(REQUEST, shapes={one["name"]: tuple(one["shape"]) for one in listed})


def _codes(subjects: Sequence[Subject]) -> Iterator[str]:
    """Codes of the errors, with those that were folded into them."""
    for subject in subjects:
        for finding in subject.findings:
            if finding.severity == "error":
                yield finding.code
                yield from finding.consequences
