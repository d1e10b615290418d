"""What runs in the child process of ``ocdbt``. It limits itself before it looks at the store."""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from typing import Any

from verifier.formats.orbax.ocdbt import REFUSED, VERSIONS
from verifier.formats.reading.limits import MIB

MOST_READS = 256
"""Values that are asked for at once."""


class _TooMuchError(Exception):
    """More keys or bytes than the limits allow."""


def main() -> None:
    """Read from standard input what ``ocdbt`` asks, and write keys and metadata as JSON."""
    asked = json.load(sys.stdin)
    memory = asked["memory"]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    status = 0
    try:
        answer: object = _listed(
            importlib.import_module("tensorstore"), asked["folder"], asked["keys"], asked["bytes"]
        )
    except MemoryError:
        status, answer = REFUSED, ["SM006", f"listing its keys takes over {memory // MIB} MiB"]
    except _TooMuchError as error:
        status, answer = REFUSED, ["SM006", str(error)]
    except (ValueError, OSError, ImportError) as error:
        # The library reports damage of any kind as a ValueError.
        status, answer = REFUSED, ["SM001", f"its keys cannot be listed: {error}"]
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    # Threads of the library may still wait for something.
    os._exit(status)


def _listed(tensorstore: Any, folder: str, most_keys: int, most_bytes: int) -> object:
    base = {"driver": "file", "path": f"{folder}/"}
    store = tensorstore.KvStore.open({"driver": "ocdbt", "base": base}).result()
    found = store.list().result()
    if len(found) > most_keys:
        raise _TooMuchError(f"{len(found)} keys, over the limit of {most_keys}")
    # Keys are bytes; those that are no text belong to no array.
    keys = [key.decode("utf-8", "surrogateescape") for key in found]
    wanted = [position for position, key in enumerate(keys) if key.rpartition("/")[2] in VERSIONS]
    metadata: dict[str, str] = {}
    left = most_bytes
    for start in range(0, len(wanted), MOST_READS):
        group = wanted[start : start + MOST_READS]
        reads = [store.read(found[at]) for at in group]
        for at, read in zip(group, reads, strict=True):
            value = read.result().value
            left -= len(value)
            if left < 0:
                raise _TooMuchError(f"over {most_bytes} bytes of metadata of arrays")
            metadata[keys[at]] = value.decode("utf-8", "surrogateescape")
    return {"keys": keys, "metadata": metadata}


if __name__ == "__main__":
    main()
