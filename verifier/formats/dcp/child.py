"""What runs in the child process of ``large``. It limits itself before it looks at the file."""

from __future__ import annotations

import gc
import json
import os
import resource
import sys

from verifier.formats.dcp.large import REFUSED
from verifier.formats.dcp.names import DCP
from verifier.formats.dcp.stubs import load_stubs
from verifier.formats.dcp.tree import contents_of
from verifier.formats.dcp.wire import encoded
from verifier.formats.pickles.machine import refused
from verifier.formats.reading.limits import MIB, Limits
from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin


def main() -> None:
    """Read the pickle on standard input and write its columns. The arguments are those of ``large``."""
    memory, axes, text_chars = map(int, sys.argv[2:])
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        memory = min(memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # Nothing is thrown away before the end, and the tree may hold many millions of objects.
    gc.disable()
    origin = Origin("")  # the parent knows the file
    status = 0
    try:
        contents = contents_of(
            load_stubs(sys.stdin.buffer, DCP, origin), origin, Limits(axes=axes, text_chars=text_chars)
        )
        for part in encoded(contents):
            sys.stdout.buffer.write(part)
    except MemoryError:
        status = _refuse(
            refused(
                "SM006", f"reading it takes over {memory // MIB} MiB, far more than its size needs", origin
            )
        )
    except FormatError as error:
        status = _refuse(error)
    sys.stdout.flush()
    # Freeing the tree would take as long as building it, and a hostile one can crash the interpreter.
    os._exit(status)


def _refuse(error: FormatError) -> int:
    answer = json.dumps([error.code, error.message, error.origin.pointer, error.help])
    sys.stdout.buffer.write(answer.encode("ascii"))
    return REFUSED
