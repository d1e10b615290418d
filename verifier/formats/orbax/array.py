"""One array of an Orbax checkpoint, held against everything that its files say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from verifier.formats.orbax.arrays import Arrays
from verifier.formats.orbax.named_sharding import (
    NamedSharding,
    Unfit,
    device_map,
    fit,
    indivisible,
    parts,
    stands_for_replicas,
)
from verifier.formats.orbax.sidecars import SHARDING, Blocks, Sharding
from verifier.formats.orbax.tree import ARRAYS, Leaf
from verifier.formats.reading.document import Subject
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.zarr.array import ZarrArray, zarr_array
from verifier.formats.zarr.chunks import Budget, check_chunks
from verifier.formats.zarr.sizes import Missing
from verifier.formats.zarr.store import StoredArray
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

SOUNDNESS = Expectation()

ALWAYS_WRITTEN = Missing(
    may_be_fill=False, reason="every chunk was written, so a restore fails; other readers fill in zeros"
)
NO_FILL = Missing(
    may_be_fill=False,
    reason="no fill value is stated, so no chunk was left out; a restore fills in zeros, without an error",
)
MAY_BE_FILL = Missing(
    may_be_fill=True,
    reason="here a chunk of nothing but the fill value is not written, and a lost one looks the same",
)


@dataclass(slots=True, kw_only=True)
class ArrayCheck:
    """Checks arrays one by one.

    Attributes:
        folder: of the checkpoint.
        prefix: the same as people should see it.
        arrays: where they are; None when they cannot be listed.
        zarr_version: which the tree states, None for none.
        writes_fill: whether chunks of nothing but the fill value were written too.
        request: what is asked.
        budget: what all arrays together may cost.
        gathered: takes what is found.
    """

    folder: Path
    prefix: str
    arrays: Arrays | None
    zarr_version: int | None
    writes_fill: bool
    request: Request
    budget: Budget
    gathered: Gathered
    _not_there: list[str] = field(default_factory=list)
    _other_version: list[str] = field(default_factory=list)
    _laid: dict[tuple[NamedSharding, tuple[int, ...]], ShardMap] = field(default_factory=dict)

    def check(self, name: str, leaf: Leaf | None, sharding: Sharding | None, blocks: Blocks | None) -> None:
        """Check one array. ``leaf`` is None for one that the tree does not name."""
        if not name:
            self.gathered.unchecked.append("the array of a tree that is one leaf")
            return
        array, is_whole = None, True
        try:
            stored = self._stored(name, leaf)
            if stored is not None:
                if stored.version != (self.zarr_version or stored.version):
                    self._other_version.append(name)
                array = zarr_array(stored.metadata, stored.version, stored.origin, self.request.limits)
                is_whole = self._chunks(stored, array)
        except (FormatError, OSError) as error:
            self.gathered.refuse(name, error, Origin(f"{self.prefix}/{name}"))
        write_shape = self._write_shape(name, leaf, blocks)
        if write_shape is not None and blocks is not None and array is not None:
            is_whole = self._same_chunks(name, array, blocks) and is_whole
        shape = array.shape if array is not None else (self.request.shapes or {}).get(name)
        if isinstance(sharding, Unfit):
            self._unfit(name, sharding)
        elif isinstance(sharding, NamedSharding):
            self._devices(name, sharding, shape, write_shape, report_blocks=is_whole)

    def finish(self) -> None:
        """Report what all arrays have together."""
        self.gathered.about_names(
            "CK101",
            self._not_there,
            what="the array",
            found="is not stored",
            stated="the tree has a leaf of this name",
            file=self.prefix,
        )
        self.gathered.about_names(
            "CK103",
            self._other_version,
            what="the array",
            found="is stored as another version of zarr",
            stated=f"the tree says version {self.zarr_version}, and a restore looks for no other",
            file=self.prefix,
        )

    def _stored(self, name: str, leaf: Leaf | None) -> StoredArray | None:
        if self.arrays is None:
            return None
        stored = self.arrays.array(name)
        if stored is None and leaf is not None and leaf.value_type in ARRAYS:
            self._not_there.append(name)
        return stored

    def _chunks(self, stored: StoredArray, array: ZarrArray) -> bool:
        missing = ALWAYS_WRITTEN if self.writes_fill else MAY_BE_FILL if array.has_fill else NO_FILL
        return check_chunks(
            stored,
            array,
            missing,
            expected_shape=(self.request.shapes or {}).get(stored.name),
            budget=self.budget,
            gathered=self.gathered,
        )

    def _same_chunks(self, name: str, array: ZarrArray, blocks: Blocks) -> bool:
        """Whether the stored chunks are those that the processes say they wrote."""
        read = array.chunks if array.inner is None else array.inner.chunks
        # What is stored under one key is written at once, so that it does not reach into another block.
        if 0 in array.shape or (read == blocks.chunk_shape and _divides(array.chunks, blocks.write_shape)):
            self.gathered.holds("chunk shapes")
            return True
        parts = "" if array.inner is None else f", stored {list(array.chunks)} at a time"
        self.gathered.faults.append(
            set_fault(
                "CK110",
                f"the chunks of {shown(name)}",
                f"are {list(read)}{parts}",
                stated=f"its processes wrote chunks of {list(blocks.chunk_shape)}"
                f" in blocks of {list(blocks.write_shape)}",
                file=array.origin.file,
            )
        )
        return False

    def _write_shape(self, name: str, leaf: Leaf | None, blocks: Blocks | None) -> tuple[int, ...] | None:
        """The shape of the blocks that were written, where everybody who states it agrees."""
        stated = None if leaf is None else leaf.write_shape
        if blocks is None:
            return stated
        write, chunk = blocks.write_shape, blocks.chunk_shape
        if stated is not None and stated != write:
            self._fault(
                name, f"is written in blocks of {list(stated)} by the tree", f"{list(write)} by its processes"
            )
        elif not _divides(chunk, write):
            self._fault(
                name, f"has chunks of {list(chunk)}", f"they do not divide its blocks of {list(write)}"
            )
        else:
            self.gathered.holds("block shapes")
            return write
        return None

    def _devices(
        self,
        name: str,
        sharding: NamedSharding,
        shape: tuple[int, ...] | None,
        write_shape: tuple[int, ...] | None,
        *,
        report_blocks: bool,
    ) -> None:
        known = shape if shape is not None else write_shape
        unfit = None if known is None else fit(sharding, len(known))
        if unfit is None and shape is not None:
            unfit = indivisible(sharding, shape)
        if unfit is not None:
            self._unfit(name, unfit)
            return
        self.gathered.holds("device meshes")
        if shape is None:
            self.gathered.note("on which devices the parts are of arrays whose shape is not known", name)
            return
        shard = tuple(n // number for n, number in zip(shape, parts(sharding, len(shape)), strict=True))
        if write_shape is not None and report_blocks and not _divides(write_shape, shard):
            self._fault(
                name,
                f"is written in blocks of {list(write_shape)}",
                f"they do not divide its shards of {list(shard)}",
            )
        if stands_for_replicas(sharding, len(shape)):
            self.gathered.note("each device that repeats a part: one stands for all that hold the same", name)
        self.budget.device_parts.left -= len(sharding.devices)
        if self.budget.device_parts.left < 0:
            self.gathered.note("on which devices the parts are of arrays with too many parts in all", name)
            return
        label = f"{name} on devices"
        place = Origin(f"{self.prefix}/{SHARDING}")
        laid = self._laid.get((sharding, shape))
        if laid is None:
            laid = device_map(sharding, shape, name=label, origin=place)
            self._laid[sharding, shape] = laid
        self.gathered.subjects.append(
            Subject(
                name=label,
                origin=place,
                shard_map=replace(laid, name=label),
                expectation=SOUNDNESS,
            )
        )

    def _unfit(self, name: str, unfit: Unfit) -> None:
        self.gathered.faults.append(
            set_fault(
                "CK115",
                f"the sharding of {shown(name)}",
                unfit.found,
                stated=unfit.stated,
                file=f"{self.prefix}/{SHARDING}",
            )
        )

    def _fault(self, name: str, found: str, stated: str) -> None:
        self.gathered.faults.append(
            set_fault("CK115", f"the array {shown(name)}", found, stated=stated, file=self.prefix)
        )


def _divides(block: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether so many equal blocks make up the whole, along each axis."""
    return len(block) == len(whole) and all(
        size == extent == 0 or (size > 0 and extent % size == 0)
        for size, extent in zip(block, whole, strict=True)
    )
