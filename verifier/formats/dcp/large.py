"""Reads a large metadata file in a child process, whose memory and time are limited by the size of the file.

The child gets the file on standard input and answers with columns (``wire``) or with a refusal. Nothing
that it unpickles leaves it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from verifier.formats.dcp.contents import Contents
from verifier.formats.dcp.wire import WireError, decoded
from verifier.formats.pickles.machine import COSTLY_HELP, refused
from verifier.formats.reading.limits import MIB, Limits
from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin

REFUSALS = frozenset({"SM001", "SM002", "SM003", "SM004", "SM005", "SM006", "SM007", "SM104"})
"""The codes that a child refuses a file with."""

BASE_MEMORY = 256 * MIB
"""What the interpreter itself may take."""
REFUSED = 3
"""Exit status of a child that refuses the file; the refusal is its output, as JSON."""
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from verifier.formats.dcp.child import main; main()"


def memory_for(size: int, limits: Limits) -> int:
    """Bytes of memory that reading a file of ``size`` bytes may take."""
    return BASE_MEMORY + limits.metadata_memory * size


def read_in_child(file: IO[bytes], size: int, origin: Origin, limits: Limits) -> Contents:
    """The contents of a metadata file of ``size`` bytes.

    Raises:
        FormatError: SM001, SM002, SM004, SM006 or SM007.
    """
    asked = [str(number) for number in (memory_for(size, limits), limits.axes, limits.text_chars)]
    with tempfile.TemporaryFile() as answer:
        try:
            status = subprocess.run(  # noqa: S603 - our own program and our own numbers
                [sys.executable, "-I", "-c", _PROGRAM, str(_PACKAGE_ROOT), *asked],
                stdin=file,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                timeout=limits.metadata_seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise _costly(f"reading it takes over {limits.metadata_seconds} s", origin) from None
        length = answer.seek(0, os.SEEK_END)
        answer.seek(0)
        if status == REFUSED:
            raise _refusal(answer.read(MIB), origin)
        if status:
            raise _died(status, origin)
        try:
            return decoded(answer, length, origin.file)
        except WireError as error:
            raise refused("SM001", str(error), origin) from None


def _refusal(answer: bytes, origin: Origin) -> FormatError:
    """What the child refused the file with; what it wrote is not trusted either."""
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    match said:
        case [str(code), str(message), str(pointer), str(advice)] if code in REFUSALS:
            return FormatError(code, message, Origin(origin.file, pointer), help=advice)
    return refused("SM001", "the process that reads it refused it without a reason", origin)


def _died(status: int, origin: Origin) -> FormatError:
    how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
    return refused("SM001", f"the process that reads it {how}", origin)


def _costly(message: str, origin: Origin) -> FormatError:
    return FormatError("SM006", message, origin, help=COSTLY_HELP)
