"""Replaying a corpus: every case file is audited and compared with the answer it states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial
from pathlib import Path

from verifier.audit import manifest
from verifier.audit.check import Settings, verdict_word
from verifier.audit.contracts import is_contract_file, replay_contract
from verifier.audit.documents import Audited, audit_path
from verifier.audit.executors import IN_PROCESS, Workers, in_order
from verifier.audit.judge import judge
from verifier.audit.replayed import Replayed, same, words
from verifier.audit.simulations import is_protocol_file, replay_protocol
from verifier.diagnostics.report import Subject
from verifier.formats import CaseExpect
from verifier.model.expectation import Expectation

Case = Path | manifest.Entry
"""A case file, or an entry of a manifest."""


def cases_in(path: Path) -> list[Case]:
    """Every case below a folder, sorted by path: case files, and the entries of manifests.

    Whatever is in the folder of a manifest belongs to its entries. A single file stands for itself.

    Raises:
        ManifestError: a manifest is malformed.
    """
    if path.is_file():
        return [*manifest.read_manifest(path)] if path.name == manifest.FILE else [path]
    manifests = sorted(path.rglob(manifest.FILE))
    entries = [entry for found in manifests for entry in manifest.read_manifest(found)]
    return [*case_files(path, apart={found.parent for found in manifests}), *entries]


def case_files(folder: Path, *, apart: Set[Path] = frozenset()) -> list[Path]:
    """Every JSON file below a folder, sorted, but for what is in the folders ``apart``."""
    return sorted(file for file in folder.rglob("*.json") if apart.isdisjoint(file.parents))


def replay(cases: Sequence[Case], settings: Settings, found: Workers = IN_PROCESS) -> Iterator[Replayed]:
    """Each case with its outcome, in order."""
    yield from in_order(found, partial(replay_case, settings=settings), iter(cases))


def replay_case(case: Case, settings: Settings) -> Replayed:
    """One case."""
    if isinstance(case, manifest.Entry):
        return manifest.replay_entry(case, settings)
    if is_protocol_file(case):
        return replay_protocol(case)
    if is_contract_file(case):
        return replay_contract(case, settings)
    return replay_path(case, settings)


def replay_path(path: Path, settings: Settings) -> Replayed:
    """One case. A file that cannot be read states nothing, so it differs from whatever was expected."""
    audited = audit_path(path, settings)
    expect = audited.document.expect if audited.document is not None else None
    verdict, codes = _answer(audited.subjects)
    if expect is None:
        expected = "a case file with an expected verdict"
        return Replayed(str(path), False, expected, words(verdict, codes), audited.subjects)
    agrees = _agrees(expect, verdict, codes)
    expected, got = words(expect.verdict, expect.codes), words(verdict, codes)
    if expect.structural_verdict is not None:
        structural = _structural(audited, settings, verdict)
        if not same(expect.structural_verdict, structural):
            agrees = False
            expected += f", {expect.structural_verdict} without its demands"
            got += f", {structural} without them"
    return Replayed(str(path), agrees, expected, got, audited.subjects)


def _structural(audited: Audited, settings: Settings, verdict: str) -> str:
    """The verdict on the map of a case with the waivers of its expectation and none of its demands.

    Padding that is declared is part of the map; ``verdict`` stands where there is no map.
    """
    document = audited.document
    if document is None or not document.subjects:
        return verdict
    subject = document.subjects[0]
    stated = subject.expectation
    waivers = Expectation(
        holes=stated.holes, gaps=stated.gaps, cover=stated.cover, lookup=stated.lookup, partial=stated.partial
    )
    return verdict_word(judge(subject.shard_map, waivers, settings.answering()).verdict)


def _answer(subjects: Sequence[Subject]) -> tuple[str, tuple[str, ...]]:
    """Our verdict on a case and the code of its primary finding."""
    first = subjects[0]  # every path has a subject
    errors = [finding for finding in first.findings if finding.severity == "error"]
    return first.verdict, tuple(finding.code for finding in errors[:1])


def _agrees(expect: CaseExpect, verdict: str, codes: tuple[str, ...]) -> bool:
    if expect.verdict == "proved" or verdict == "proved":
        return expect.verdict == verdict and not codes
    return same(expect.verdict, verdict) and (not expect.codes or bool(set(codes) & set(expect.codes)))
