"""Contracts in files: checked, induced, and replayed as cases of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from verifier.audit.check import Settings, tool_versions
from verifier.audit.contract_findings import contract_subject, induced_subjects
from verifier.audit.entries import refused
from verifier.audit.replayed import Replayed
from verifier.contracts.cases import Checked, NotACaseError, agrees, check_document, is_contract
from verifier.diagnostics.report import Report, Subject
from verifier.formats import FormatError, Limits, Refusal
from verifier.formats.reading.json_text import parse
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.model.origin import Origin

HELP = "a contract is JSON with implementation, fields, variants, update, training and checkpoints"


def read_document(path: Path) -> object:
    """The JSON value of a file, read strictly.

    Raises:
        FormatError: it cannot be read, is not JSON, or is ambiguous.
    """
    origin, limits = Origin(str(path)), Limits()
    try:
        parsed = parse(bounded_bytes(path, limits.json_bytes, "JSON", origin), origin, limits)
    except FileNotFoundError:  # in the words of the readers of checkpoints
        raise FormatError(
            "SM001", "no such file, or not a regular one", origin, help="check the spelling of the path"
        ) from None
    except OSError as error:
        raise FormatError(
            "SM001", f"cannot be read: {error.strerror}", origin, help="check the path and its permissions"
        ) from None
    for flaw in parsed.flaws:
        raise flaw
    return parsed.value


def read_contract(path: Path) -> Checked:
    """A contract, or a case about one, with every rule it breaks.

    Raises:
        FormatError: the file cannot be read, or is neither.
    """
    try:
        return check_document(read_document(path), path.stem)
    except NotACaseError as error:
        raise FormatError("SM002", str(error), Origin(str(path)), help=HELP) from None


def check_contracts(paths: Iterable[Path], settings: Settings) -> Report:
    """One report on all paths; a folder stands for the JSON files below it."""
    subjects: list[Subject] = []
    for path in (file for named in paths for file in _files(named)):
        subjects += _subjects(path, settings)
    return Report(tool=tool_versions(), subjects=tuple(subjects))


def _files(path: Path) -> Sequence[Path]:
    return sorted(path.rglob("*.json")) or [path] if path.is_dir() else [path]


def _subjects(path: Path, settings: Settings) -> list[Subject]:
    origin = Origin(str(path))
    try:
        if path.is_dir():
            raise FormatError("SM002", "no file in this folder is called *.json", origin, help=HELP)
        checked = read_contract(path)
    except FormatError as error:
        return [refused(Refusal.of(path.name, error), line=error.line, column=error.column)]
    subjects = [contract_subject(checked, origin)]
    if checked.induction is not None:
        subjects += induced_subjects(checked.induction, checked.name, origin, settings, settings.answering())
    return subjects


def is_contract_file(path: Path) -> bool:
    """Whether a file is about a contract; False where it cannot be read."""
    try:
        return is_contract(read_document(path))
    except FormatError:
        return False


def replay_contract(path: Path, settings: Settings) -> Replayed:
    """A contract case compared with the answer it states: verdict, rules and induced maps.

    Raises:
        FormatError: the file cannot be read.
    """
    checked = read_contract(path)
    subjects = tuple(_subjects(path, settings))
    got = _words(checked.verdict, checked.rules)
    if checked.answer is None:
        return Replayed(str(path), False, "a case with an expected verdict", got, subjects)
    answer = checked.answer
    expected = _words(answer.verdict, answer.rules)
    if answer.induced is not None and checked.induction is not None:
        expected += f", {_kinds(answer.induced)}"
        got += f", {_kinds({name: found.kind for name, found in checked.induction.fields.items()})}"
    proved = checked.verdict not in ("valid", "conditional") or all(s.verdict == "proved" for s in subjects)
    return Replayed(str(path), agrees(checked) and proved, expected, got, subjects)


def _words(verdict: str, rules: Sequence[str]) -> str:
    return f"{verdict} ({', '.join(sorted(rules))})" if rules else verdict


def _kinds(induced: object) -> str:
    if not isinstance(induced, dict):
        return "no induced maps"
    return ", ".join(f"{name} {kind}" for name, kind in sorted(induced.items())) or "no induced maps"
