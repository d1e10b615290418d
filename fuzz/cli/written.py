"""What ``--write-cases`` does: each distinct finding shrunk and kept as a case of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from fuzz.outcomes import Finding
from fuzz.shrinking.case_files import CaseError, keep
from fuzz.shrinking.triage import Triaged, case_file, triage
from fuzz.target import Target


def write_findings(findings: Iterable[Finding], target: Target, folder: Path) -> Iterator[str]:
    """A line for each distinct least example: its file, or why there is none.

    Raises:
        OSError: the folder or a file cannot be read or written.
    """
    for triaged in triage(findings, target):
        yield f"{_kept(triaged, target, folder)}: {_said(triaged)}"


def _kept(triaged: Triaged, target: Target, folder: Path) -> str:
    try:
        kept = keep(case_file(triaged, target), folder)
    except (CaseError, ValueError) as error:
        return f"not written ({error})"
    return f"{'wrote' if kept.new else 'known'} {kept.path}"


def _said(triaged: Triaged) -> str:
    found = triaged.finding
    also = "".join(f"; also {other.key}" for other in triaged.others)
    again = "" if triaged.reproduced else "; it did not happen again alone: not shrunk"
    return f"{found.kind}, {found.key}{also}{again}"
