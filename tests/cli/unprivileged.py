"""Running ``shardproof`` as somebody whom permissions stop, which they do not stop root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import Ran

MAIN = "from verifier.cli.main import main; main()"
WITHOUT_OVERRIDE = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


def unprivileged(*arguments: str | Path) -> Ran:
    """Exit code and outputs of one command that may not read what its owner may not read."""
    root = os.geteuid() == 0
    if root and shutil.which(WITHOUT_OVERRIDE[0]) is None:
        pytest.skip("root reads everything, and there is no setpriv")
    command = [*(WITHOUT_OVERRIDE if root else ()), sys.executable, "-c", MAIN, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return Ran(ran.returncode, ran.stdout, ran.stderr)
