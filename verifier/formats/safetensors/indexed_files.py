"""An index held against the headers of the files that it names: every tensor where it says, and no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from verifier.formats.reading.folder_files import file_inside
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.safetensors.files import index_stem, numbered_stem, set_name
from verifier.formats.safetensors.folder import SafetensorsFolder, gather_missing_numbers
from verifier.formats.safetensors.index import TOTAL_SIZE, Index


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedFiles:
    """An index with the files of its folder; some that it does not name may be among them.

    It answers for every file that is numbered with those that it names: when its entries are lost together
    with a file, or without it, the numbers still tell.
    """

    index: Index
    folder: SafetensorsFolder

    @property
    def listed(self) -> list[str]:
        """The files that the index names, sorted."""
        return sorted(set(self.index.files.values()))

    @property
    def readable(self) -> list[str]:
        """Those of them, and of their siblings, whose header was read."""
        return [name for name in (*self.listed, *self.siblings) if name in self.folder.headers]

    @property
    def siblings(self) -> list[str]:
        """Files that it does not name, and that are numbered with those that it does."""
        return siblings_of(self.index, self.folder.files)

    def check(self, gathered: Gathered) -> None:
        """Add the faults of the index, and how many of its statements hold."""
        listed, siblings, read = self.listed, self.siblings, self.readable
        outside = [file for file in listed if file_inside(self.folder.path, file) is None]
        homes: dict[str, list[str]] = {}
        for file in read:
            for name in self.folder.headers[file].names:
                homes.setdefault(name, []).append(file)
        gathered.refusals += self.index.refusals
        self._outside(outside, gathered)
        self._missing([file for file in listed if self.folder.missing(file)], gathered)
        # Files below the folder are not listed, so that numbers tell nothing there.
        numbered = [file for file in (*listed, *siblings) if "/" not in file]
        gather_missing_numbers(numbered, self.index.origin.file, gathered)
        self._ghosts(homes, gathered)
        self._unlisted(homes, gathered)
        self._twice(homes, gathered)
        self._total([file for file in listed if file in self.folder.headers], gathered)

    def _outside(self, files: list[str], gathered: Gathered) -> None:
        if files:
            fault = set_fault(
                "CK109",
                f"the path {shown(files[0])}",
                "leads out of the folder",
                file=self.index.origin.file,
                number=len(files),
            )
            gathered.faults.append(fault)

    def _missing(self, files: list[str], gathered: Gathered) -> None:
        if not files:
            return
        tensors = sum(file == files[0] for file in self.index.files.values())
        fault = set_fault(
            "CK101",
            f"the file {shown(files[0])}",
            "is not there",
            stated=f"the index puts {_counted(tensors, 'tensor')} into it",
            file=self.index.origin.file,
            number=len(files),
        )
        gathered.faults.append(fault)

    def _ghosts(self, homes: Mapping[str, list[str]], gathered: Gathered) -> None:
        ghosts = []
        for name, file in self.index.files.items():
            if file not in self.folder.headers:
                continue
            if file in homes.get(name, ()):
                gathered.holds("index entries")
            else:
                ghosts.append(name)
        if not ghosts:
            return
        name = ghosts[0]
        other = homes.get(name)
        fault = set_fault(
            "CK103",
            f"the tensor {shown(name)}",
            f"is in {shown(other[0])}" if other else "is in none of the files",
            stated=f"the index puts it into {shown(self.index.files[name])}",
            file=self.index.origin.file,
            number=len(ghosts),
        )
        gathered.faults.append(fault)

    def _unlisted(self, homes: Mapping[str, list[str]], gathered: Gathered) -> None:
        unlisted = [name for name in homes if name not in self.index.files]
        if unlisted:
            fault = set_fault(
                "CK105",
                f"the tensor {shown(unlisted[0])} in {shown(homes[unlisted[0]][0])}",
                "is not in the index",
                file=self.index.origin.file,
                number=len(unlisted),
            )
            gathered.faults.append(fault)

    def _twice(self, homes: Mapping[str, list[str]], gathered: Gathered) -> None:
        twice = [name for name, files in homes.items() if len(files) > 1]
        if not twice:
            return
        name = twice[0]
        fault = set_fault(
            "CK106",
            f"the tensor {shown(name)}",
            f"is in {shown(homes[name][0])} and in {shown(homes[name][1])}",
            stated=f"the index puts it into {shown(self.index.files[name])}"
            if name in self.index.files
            else None,
            file=self.index.origin.file,
            number=len(twice),
        )
        gathered.faults.append(fault)

    def _total(self, read: list[str], gathered: Gathered) -> None:
        stated, file = self.index.total_size, self.index.origin.file
        if stated is None:
            gathered.unchecked.append(f"{TOTAL_SIZE} of {file}: it is not stated")
            return
        if len(read) < len(self.listed):
            gathered.unchecked.append(f"{TOTAL_SIZE} of {file}: not all of its files could be read")
            return
        found = sum(each.end - each.begin for name in read for each in self.folder.headers[name].ranges)
        if found == stated:
            gathered.holds("total sizes")
            return
        fault = set_fault(
            "CK113",
            f"{TOTAL_SIZE} of the index",
            f"is {stated} bytes",
            stated=f"the tensors of its files have {found}",
            file=file,
            reason="some writers count tied weights twice; others forget what was added or removed later",
        )
        gathered.faults.append(fault)


def siblings_of(index: Index, names: Iterable[str]) -> list[str]:
    """Those of the names in its folder that are numbered with files of an index, and that it does not name.

    An index that names no file has those that are called as it is.
    """
    listed = set(index.files.values())
    sets = {set_name(file) for file in listed}
    stem = index_stem(PurePosixPath(index.origin.file).name)
    return [
        name
        for name in names
        if (called := numbered_stem(name)) is not None
        and name not in listed
        and (set_name(name) in sets if sets else called == stem)
    ]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
