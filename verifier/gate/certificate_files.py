"""Certificates of proofs for all sizes as files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_certificates(certificates: Mapping[str, Iterable[str]], folder: Path) -> int:
    """Write the certificates, by the place of their constructor, to a folder; how many there were.

    The file name is made of the place and a digest of the certificate, so equal runs write equal files.

    Raises:
        OSError: the folder cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for where, texts in certificates.items():
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", where)[-80:].strip("._") or "constructor"
        for text in texts:
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            (folder / f"{stem}-{digest}.cert.json").write_text(text + "\n", encoding="utf-8")
            written += 1
    return written
