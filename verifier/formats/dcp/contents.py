"""What the metadata of a torch.distributed.checkpoint says, in columns: a million chunks, no objects each."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from verifier.formats.reading.document import Refusal
from verifier.formats.reading.refusal import shown
from verifier.model.box_map import COLUMN

NOWHERE = -1
"""In a column of storage entries: a chunk that has none. In a column of paths: an entry that was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTensor:
    """One tensor: its boxes as in ``BoxMap``, and for each the number of its storage entry or NOWHERE."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    count: int
    offsets: array[int]
    sizes: array[int]
    entries: array[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """Pickled bytes under a name; ``entry`` as in ``StoredTensor``. They are never unpickled."""

    name: str
    entry: int


@dataclass(slots=True, kw_only=True)
class Storage:
    """Where things are stored, one row for each entry of ``storage_data``, in its order.

    Attributes:
        paths: distinct paths as the file gives them.
        path: column of positions in ``paths``, NOWHERE for a row that was refused.
        start: column of first bytes.
        length: column of numbers of bytes.
        coded: one byte for each row, 1 where an extension transformed the bytes.
        transforms: names of such extensions.
    """

    paths: tuple[str, ...] = ()
    path: array[int] = field(default_factory=lambda: array(COLUMN))
    start: array[int] = field(default_factory=lambda: array(COLUMN))
    length: array[int] = field(default_factory=lambda: array(COLUMN))
    coded: bytearray = field(default_factory=bytearray)
    transforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Several:
    """How many things are wrong in one way, and what people call the first."""

    count: int
    first: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesting:
    """What ``planner_data`` contradicts; each None for none.

    Attributes:
        shared: pairs of names that have one path.
        exchanged: pairs of names of which the first has the path of the second.
        moved: names that are not made of their path, where others are.
        unstored: names that ``state_dict_metadata`` does not list.
        unplaced: names that it lists and that have no path.
    """

    shared: Several | None = None
    exchanged: Several | None = None
    moved: Several | None = None
    unstored: Several | None = None
    unplaced: Several | None = None


@dataclass(slots=True, kw_only=True)
class Contents:
    """Everything of one metadata file that matters here.

    Attributes:
        tensors: the tensors, in the order of the file.
        objects: the other things stored.
        storage: where.
        orphans: storage entries that no chunk and no object has; None for none.
        repeated: storage entries for a chunk that has one already; None for none.
        nesting: what is said wrongly of the nested state that the names stand for.
        reformed: by name of a flattened tensor, the shape it had before (Megatron-core).
        tells_reformed: the names of which the file says whether they were flattened; None when it never says.
        refusals: parts that could not be read.
    """

    tensors: tuple[StoredTensor, ...] = ()
    objects: tuple[StoredObject, ...] = ()
    storage: Storage = field(default_factory=Storage)
    orphans: Several | None = None
    repeated: Several | None = None
    nesting: Nesting = field(default_factory=Nesting)
    reformed: dict[str, tuple[int, ...]] = field(default_factory=dict)
    tells_reformed: frozenset[str] | None = None
    refusals: tuple[Refusal, ...] = ()


def chunk_label(name: str, offset: tuple[int, ...] | None) -> str:
    """What people call a chunk."""
    return shown(name) if offset is None else f"{shown(name)} at {list(offset)}"


def owner_of(contents: Contents, entry: int) -> str:
    """What people call the chunk or object that a storage entry belongs to."""
    for tensor in contents.tensors:
        if entry in tensor.entries:
            rank = len(tensor.shape)
            position = tensor.entries.index(entry)
            return chunk_label(tensor.name, tuple(tensor.offsets[position * rank : (position + 1) * rank]))
    for item in contents.objects:
        if item.entry == entry:
            return chunk_label(item.name, None)
    return f"entry {entry} of storage_data"
