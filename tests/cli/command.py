"""Running ``shardproof`` in this process exactly as its entry point does."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from verifier.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpora"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def shardproof(*arguments: str | Path) -> Ran:
    """Exit code, standard output and standard error of one command."""
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    with (
        mock.patch.object(sys, "argv", ["shardproof", *map(str, arguments)]),
        mock.patch("verifier.audit.documents._PROOFS", {}),  # a process begins without proofs
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    assert code is None or isinstance(code, int)
    return Ran(code or 0, out.getvalue(), err.getvalue())
