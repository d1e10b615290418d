"""Orbax checkpoints of JAX arrays: what their files say of each other, the chunks of every array, and which
device holds which part of it.

Two maps come of each array. Its chunk grid says how it is stored; its sharding says how it lay on devices
when it was saved, and how a restore without other instructions lays it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from verifier.formats.orbax.array import ArrayCheck
from verifier.formats.orbax.arrays import Arrays, FolderArrays
from verifier.formats.orbax.ocdbt import INSTALL, MANIFEST, can_list, list_store
from verifier.formats.orbax.sidecars import (
    BLOCKS,
    SHARDING,
    Blocks,
    Sharding,
    read_blocks,
    read_shardings,
)
from verifier.formats.orbax.tree import ARRAYS, DEVICE_ARRAY, STRING, Tree, tree_of
from verifier.formats.reading.document import Document, Refusal
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.json_file import read_json
from verifier.formats.reading.refusal import FormatError
from verifier.formats.reading.request import Request
from verifier.formats.reading.stated_shapes import unstored_fault
from verifier.formats.zarr.chunks import Budget
from verifier.formats.zarr.store import entries_of
from verifier.model.origin import Origin

KIND = "orbax"
METADATA = "_METADATA"
STRINGS = "_strings.json"
NEVER = ("the values of tensors, so whether chunks of equal size were exchanged: no tensor data is read",)


def read_orbax(path: Path, origin: Origin, request: Request) -> Document:
    """The document of the folder of one checkpoint item.

    Raises:
        FormatError: SM006 for more entries than the limit.
        OSError: the folder cannot be listed.
    """
    reader = _Reader(path, origin, request)
    reader.read()
    return reader.gathered.document(origin.file, KIND)


class _Reader:
    """Reads one item. What is missing or broken in one place hides nothing in another."""

    __slots__ = ("arrays", "budget", "entries", "gathered", "origin", "path", "prefix", "request", "tree")

    def __init__(self, path: Path, origin: Origin, request: Request) -> None:
        self.path = path
        self.origin = origin
        self.prefix = origin.file.rstrip("/")
        self.request = request
        self.budget = Budget.of(request.limits)
        self.gathered = Gathered(unchecked=list(NEVER))
        self.entries = entries_of(path, origin, self.budget.files, request.limits)

    def read(self) -> None:
        limits = self.request.limits
        self.tree = self._tree()
        self.arrays = self._arrays()
        shardings = read_shardings(self.path, self._place(SHARDING), limits, self.gathered)
        blocks = read_blocks(self.path, self._place(BLOCKS), self.budget.files, limits, self.gathered)
        stored = set() if self.arrays is None else set(self.arrays.names())
        self._leaves(stored, shardings or {}, blocks or {})
        if self.arrays is not None:
            leaves = set() if self.tree is None else self.tree.leaves.keys()
            self.gathered.faults += unstored_fault(self.request.shapes, stored | leaves)
        if self.tree is not None:
            self._beside(self.tree, stored, shardings, blocks)

    def _place(self, name: str) -> Origin:
        return Origin(f"{self.prefix}/{name}")

    def _tree(self) -> Tree | None:
        place = self._place(METADATA)
        try:
            value = read_json(self.path, METADATA, place, self.request.limits)
            return tree_of(value, place, self.request.limits, self.gathered)
        except FileNotFoundError:
            self._missing_file(METADATA, "it lists the leaves of the checkpoint")
        except (FormatError, OSError) as error:
            self.gathered.refuse(METADATA, error, place)
        return None

    def _missing_file(self, name: str, why: str) -> None:
        self.gathered.faults.append(
            set_fault("CK101", f"the file {name}", "is not there", stated=why, file=self.origin.file)
        )

    def _arrays(self) -> Arrays | None:
        """The arrays; None when they are in a store that cannot be listed."""
        limits = self.request.limits
        folders = [name for name, is_folder in self.entries.items() if is_folder]
        if MANIFEST not in self.entries:
            if self.tree is not None and self.tree.use_ocdbt:
                self._missing_file(MANIFEST, f"{METADATA} says that the arrays are in an OCDBT store")
                return None
            return FolderArrays(self.path, self.prefix, folders, self.budget.files, limits)
        if not can_list():
            self.gathered.unchecked.append(
                f"which chunks are stored: listing the keys of {MANIFEST} needs tensorstore ({INSTALL})"
            )
            return None
        try:
            listed = list_store(self.path, self.origin, limits)
        except FormatError as error:
            self.gathered.refusals.append(Refusal.of(MANIFEST, error))
            return None
        self.gathered.unchecked.append(
            "whether the data files of the OCDBT store are there: only reading a chunk shows that one is lost"
        )
        return listed

    def _leaves(
        self, stored: set[str], shardings: Mapping[str, Sharding], blocks: Mapping[str, Blocks]
    ) -> None:
        check = ArrayCheck(
            folder=self.path,
            prefix=self.prefix,
            arrays=self.arrays,
            zarr_version=None if self.tree is None else self.tree.zarr_version,
            writes_fill=self.tree is not None and self.tree.writes_fill,
            request=self.request,
            budget=self.budget,
            gathered=self.gathered,
        )
        leaves = {} if self.tree is None else self.tree.leaves
        for name in dict.fromkeys((*leaves, *sorted(stored))):
            leaf = leaves.get(name)
            if leaf is not None and (leaf.is_empty or leaf.value_type == STRING):
                continue
            if leaf is not None and leaf.value_type not in ARRAYS and name not in stored:
                self.gathered.note("leaves of a type that is not known", name)
                continue
            check.check(name, leaf, shardings.get(name), blocks.get(name))
        check.finish()

    def _beside(
        self,
        tree: Tree,
        stored: set[str],
        shardings: Mapping[str, Sharding] | None,
        blocks: Mapping[str, Blocks] | None,
    ) -> None:
        """Each file names the arrays that the others name."""
        g, leaves = self.gathered, tree.leaves
        g.about_names(
            "CK105", sorted(stored - leaves.keys()), what="the array", found="is stored",
            stated=f"{METADATA} does not name it", file=self.origin.file,
        )  # fmt: skip
        known = stored | leaves.keys()
        for file, named in ((SHARDING, shardings), (BLOCKS, blocks)):
            g.about_names(
                "CK103", sorted((named or {}).keys() - known), what="the array", found=f"is named in {file}",
                stated=f"{METADATA} has no such leaf", file=self.origin.file,
            )  # fmt: skip
        on_devices = [
            name for name, leaf in leaves.items() if leaf.value_type == DEVICE_ARRAY and not leaf.is_empty
        ]
        if blocks is not None:
            # An array that is not stored is reported as that.
            there = stored if self.arrays is not None else leaves.keys()
            unlisted = sorted(name for name in on_devices if name in there and name not in blocks)
            g.about_names(
                "CK105", unlisted, what="the array", found=f"is in {METADATA}",
                stated=f"{BLOCKS} does not name it", file=self.origin.file,
            )  # fmt: skip
        if shardings is None:
            if on_devices:
                g.unchecked.append(f"on which devices arrays lay: there is no readable file {SHARDING}")
        else:
            for name in on_devices:
                if name not in shardings:
                    # A sharding that is no NamedSharding and not on one device is not written.
                    g.note(f"the devices of arrays that {SHARDING} does not name", name)
        strings = [name for name, leaf in leaves.items() if leaf.value_type == STRING]
        if strings and STRINGS not in self.entries:
            self._missing_file(STRINGS, f"{METADATA} has {len(strings)} leaves of text")
