"""Running ``shardproof gate`` in this process, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from tests.cli.command import Ran, shardproof
from verifier.cli import main


def gate(*arguments: str | Path) -> Ran:
    with mock.patch.dict(main._COMMANDS, {"gate": "verifier.cli.gate"}):
        return shardproof("gate", *arguments)
