"""Certificates of a report as files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from verifier.diagnostics.report import Report
from verifier.verdicts import Proved, ProvedTiled


def write_certificates(report: Report, directory: Path) -> int:
    """Write the certificate of every proved map to ``directory``; how many there were.

    The file name is made of the map's name and a digest of the certificate, so equal runs write equal files.

    Raises:
        OSError: the directory cannot be made or written to.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = 0
    for subject in report.subjects:
        if isinstance(subject.outcome, Proved | ProvedTiled):
            text = subject.outcome.certificate.to_text()
            stem = re.sub(r"[^A-Za-z0-9._-]+", "_", subject.name)[:80].strip("._") or "map"
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            (directory / f"{stem}-{digest}.cert.json").write_text(text + "\n", encoding="utf-8")
            written += 1
    return written
