"""Megatron-core checkpoints in zarr (its backend up to release 0.12): one array for each parameter, one chunk
for each shard, and sharded objects as files of their own.

A chunk that is missing reads as zeros, without an error. Nothing lists the arrays: a parameter that is gone
with its folder cannot be missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from verifier.formats.megatron.common import COMMON, check_common
from verifier.formats.reading.document import Document
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.object_files import check_objects
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.stated_shapes import unstored_fault
from verifier.formats.zarr.array import METADATA_V2, zarr_array
from verifier.formats.zarr.chunks import Budget, check_chunks
from verifier.formats.zarr.sizes import Missing
from verifier.formats.zarr.store import array_in_folder, entries_of
from verifier.model.origin import Origin

KIND = "megatron"
LOCKS = ".sync"
"""Ends the name of a folder of locks, beside each array that several processes wrote."""
FILES = frozenset({COMMON, "metadata.json"})

_CHUNK = re.compile(r"\d+(?:\.\d+)*", re.ASCII)

MISSING = Missing(may_be_fill=False, reason="it reads as zeros, and nothing raises an error")
NEVER = (
    "the values of tensors, so whether chunks of equal size were exchanged: no tensor data is read",
    "whether arrays are missing with their folder: nothing in the checkpoint lists them",
    f"what is not sharded: {COMMON}",
)


def read_megatron_zarr(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a checkpoint folder whose ``metadata.json`` names the backend zarr.

    Raises:
        FormatError: SM006 for more entries than the limit.
        OSError: the folder cannot be listed.
    """
    reader = _Reader(path, origin, request)
    reader.read()
    return reader.gathered.document(origin.file, KIND)


class _Reader:
    __slots__ = ("budget", "gathered", "origin", "path", "prefix", "request")

    def __init__(self, path: Path, origin: Origin, request: Request) -> None:
        self.path = path
        self.origin = origin
        self.prefix = origin.file.rstrip("/")
        self.request = request
        self.budget = Budget.of(request.limits)
        self.gathered = Gathered(unchecked=list(NEVER))

    def read(self) -> None:
        entries = entries_of(self.path, self.origin, self.budget.files, self.request.limits)
        folders = [name for name, is_folder in entries.items() if is_folder]
        for name in folders:
            if name.endswith(LOCKS) and name.removesuffix(LOCKS) in entries:
                continue
            try:
                self._folder(name)
            except (FormatError, OSError) as error:
                self.gathered.refuse(name, error, Origin(f"{self.prefix}/{name}"))
        self.gathered.faults += unstored_fault(self.request.shapes, folders)
        check_common(self.path, self.prefix, entries, self.request.limits, self.gathered)
        self._ignored(name for name, is_folder in entries.items() if not is_folder and name not in FILES)

    def _folder(self, name: str) -> None:
        folder, display = self.path / name, f"{self.prefix}/{name}"
        limits = self.request.limits
        stored = array_in_folder(self.path, name, self.prefix, self.budget.files, limits)
        if stored is not None:
            shapes = self.request.shapes or {}
            check_chunks(
                stored,
                zarr_array(stored.metadata, stored.version, stored.origin, limits),
                MISSING,
                expected_shape=shapes.get(name),
                budget=self.budget,
                gathered=self.gathered,
            )
            return
        inside = entries_of(folder, Origin(display), self.budget.files, limits)
        if any(map(_CHUNK.fullmatch, inside)):
            self.gathered.faults.append(
                set_fault(
                    "CK101",
                    f"the file {METADATA_V2} of {shown(name)}",
                    "is not there",
                    stated="files of chunks are",
                    file=display,
                )
            )
        check_objects(name, display, inside, self.gathered)

    def _ignored(self, names: Iterable[str]) -> None:
        others = list(names)
        if others:
            self.gathered.remarks.append(
                set_fault(
                    "CK202",
                    f"the file {shown(others[0])}",
                    "is no part of the checkpoint",
                    file=self.origin.file,
                    number=len(others),
                )
            )
