"""Where the arrays of an Orbax checkpoint are: each in a folder of its own, or all in one OCDBT store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.limits import Limits
from verifier.formats.zarr.array import METADATA_V2, METADATA_V3
from verifier.formats.zarr.store import StoredArray, array_in_folder


class Arrays(Protocol):
    """The arrays of one checkpoint."""

    def array(self, name: str) -> StoredArray | None:
        """The array of this name, None when there is none.

        Raises:
            FormatError: SM006.
            OSError: it cannot be read.
        """

    def names(self) -> Iterable[str]:
        """The names of all arrays, as far as they can be listed."""


class FolderArrays:
    """Arrays that are folders of files.

    Attributes:
        folder: of the checkpoint.
        shown: the same as people should see it.
        folders: names of the folders in it.
    """

    __slots__ = ("folder", "folders", "left", "limits", "shown")

    def __init__(
        self, folder: Path, shown: str, folders: Iterable[str], left: Allowance, limits: Limits
    ) -> None:
        self.folder = folder
        self.shown = shown
        self.folders = tuple(folders)
        self.left = left
        self.limits = limits

    def array(self, name: str) -> StoredArray | None:
        """The array of this name, which is a path below the folder."""
        return array_in_folder(self.folder, name, self.shown, self.left, self.limits)

    def names(self) -> Iterable[str]:
        """The folders that hold the metadata of an array."""
        for name in self.folders:
            if any((self.folder / name / file).is_file() for file in (METADATA_V2, METADATA_V3)):
                yield name
