"""The keys of an OCDBT key-value store, in which Orbax keeps all arrays of a checkpoint.

Its tree of keys is compressed and its format is that of one library, ``tensorstore`` (extra ``orbax``). That
library is C++ and reads what may be hostile: it runs in a child process with limited memory and time, which
lists keys and reads the small metadata of arrays. No array is opened: a made-up chunk shape would end the
process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from verifier.formats.reading.limits import MIB, Limits
from verifier.formats.reading.refusal import FormatError
from verifier.formats.zarr.array import METADATA_V2, METADATA_V3
from verifier.formats.zarr.store import NOT_CHUNKS, StoredArray
from verifier.model.origin import Origin

MANIFEST = "manifest.ocdbt"
INSTALL = "pip install 'shardproof[orbax]'"
REFUSED = 3
"""Exit status of a child that cannot list the store; the reason is its output."""
MESSAGE_CHARS = 200
VERSIONS = {METADATA_V2: 2, METADATA_V3: 3}

_LIBRARY = "tensorstore"
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def can_list() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec(_LIBRARY) is not None


class OcdbtArrays:
    """The arrays of one store. How many bytes a value has is not known: only reading it would tell."""

    __slots__ = ("_keys", "_metadata", "shown")

    def __init__(self, keys: Iterable[str], metadata: Mapping[str, str], shown: str) -> None:
        """``metadata`` is the text of each array's metadata by its key; ``shown`` the store, for people."""
        self.shown = shown
        self._metadata = {key.rpartition("/")[0]: (key, text) for key, text in metadata.items()}
        self._keys: dict[str, dict[str, int | None]] = {name: {} for name in self._metadata}
        for key in keys:
            name, _, chunk = key.partition("/")
            while name not in self._keys and chunk:
                more, _, chunk = chunk.partition("/")
                name = f"{name}/{more}"
            if name in self._keys and chunk not in NOT_CHUNKS:
                self._keys[name][chunk] = None

    def array(self, name: str) -> StoredArray | None:
        """The array of this name, None when the store has no metadata for it."""
        if name not in self._metadata:
            return None
        key, text = self._metadata[name]
        return StoredArray(
            name=name,
            origin=Origin(f"{self.shown}/{key}"),
            metadata=text.encode("utf-8", "surrogatepass"),
            version=VERSIONS[key.rpartition("/")[2]],
            keys=self._keys[name],
            folder=None,
            shown=f"{self.shown}/{name}",
        )

    def names(self) -> Iterable[str]:
        """The arrays that have metadata."""
        return self._metadata


def list_store(folder: Path, origin: Origin, limits: Limits) -> OcdbtArrays:
    """The arrays in the store of a folder.

    Args:
        folder: the folder with its manifest.
        origin: the folder as people should see it.
        limits: how much it may cost.

    Raises:
        FormatError: SM001 when the store cannot be read, SM006 over a limit.
    """
    place = Origin(f"{origin.file}/{MANIFEST}")
    path = str(folder.resolve())
    asked = {
        "folder": path,
        "memory": limits.store_memory,
        "keys": limits.entries,
        "bytes": limits.json_bytes,
    }
    with tempfile.TemporaryFile() as answer:
        try:
            status = subprocess.run(
                [sys.executable, "-P", "-m", "verifier.formats.orbax.ocdbt_child"],
                input=json.dumps(asked).encode(),
                stdout=answer,
                stderr=subprocess.DEVNULL,
                timeout=limits.store_seconds,
                env=_environment(),
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise _refused("SM006", f"listing its keys takes over {limits.store_seconds} s", place) from None
        answer.seek(0)
        if status == REFUSED:
            code, message = json.loads(answer.read(MIB))
            raise _refused(code, message.replace(path, origin.file)[:MESSAGE_CHARS], place)
        if status:
            how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
            raise _refused("SM001", f"the process that lists its keys {how}", place)
        found = json.load(answer)
    return OcdbtArrays(found["keys"], found["metadata"], origin.file)


def _environment() -> dict[str, str]:
    """The environment, with our own package findable; ``-P`` keeps the working directory off the path."""
    paths = [str(_PACKAGE_ROOT)]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}


def _refused(code: str, message: str, place: Origin) -> FormatError:
    return FormatError(
        code, message, place, help="copy the whole checkpoint again; every file of it is needed"
    )
