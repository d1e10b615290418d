"""Torch's zip files, read without torch: the pickle in them as inert records, tensors as headers.

A file of torch.save is a zip archive with one ``<folder>/data.pkl`` and one member of raw bytes per storage,
none of them compressed. Only ``data.pkl`` is read; of the storages the directory says whether they are whole.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from verifier.formats.pickles.dtypes import DTYPES, ITEM_BYTES, STORAGE_DTYPES
from verifier.formats.pickles.plain_names import PLAIN_NAMES
from verifier.formats.pickles.records import Call, Grammar, Name
from verifier.formats.pickles.shape import CONTAINERS
from verifier.formats.pickles.tree import read_pickle
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.marks import ZIP_MAGIC
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.regular import regular
from verifier.model.origin import Origin

ENCRYPTED = 0x1
PICKLE = "data.pkl"
_HEADER = struct.Struct("<4s22xHH")
"""Of a member: its magic number, and the lengths of name and extra field that stand before its bytes."""

UNREADABLE_ZIP = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    struct.error,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
    ValueError,
    OverflowError,
    EOFError,
    KeyError,
)
"""What the standard library raises on archives that are damaged or use what it does not know."""

DAMAGED_HELP = "copy the file again from where it was written; a cut copy has no directory at its end"
RESAVE_HELP = "save it with torch.save, which writes one uncompressed data.pkl"

SIZE = Name("torch", "Size")
TENSOR_V2 = Name("torch._utils", "_rebuild_tensor_v2")
TENSOR_V3 = Name("torch._utils", "_rebuild_tensor_v3")
PARAMETER = Name("torch._utils", "_rebuild_parameter")
FROM_TYPE = Name("torch._tensor", "_rebuild_from_type_v2")
_UNTYPED = (Name("torch", "UntypedStorage"), Name("torch.storage", "UntypedStorage"))


@dataclass(frozen=True, slots=True)
class Storage:
    """Raw bytes of the archive that a tensor looks into; not read. ``dtype`` is None when untyped."""

    dtype: str | None
    key: str
    numel: int


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """A tensor without its values. ``offset`` and ``strides`` count elements of the storage."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: str

    @property
    def numel(self) -> int:
        """Elements of the tensor."""
        return math.prod(self.shape)

    @property
    def last(self) -> int:
        """The element of the storage that is its last, if it has any."""
        return self.offset + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))


def _storage(identity: object) -> Storage:
    match identity:
        case ("storage", Name() as kind, str(key), str(), int(numel)) if type(numel) is int and numel >= 0:
            if kind.module == "torch" and kind.name in STORAGE_DTYPES:
                return Storage(STORAGE_DTYPES[kind.name], key, numel)
            if kind in _UNTYPED:
                return Storage(None, key, numel)
    raise ValueError("a persistent id that is no torch storage")


TORCH = PLAIN_NAMES | Grammar(
    names=frozenset(
        {
            *DTYPES,
            *(Name("torch", kind) for kind in STORAGE_DTYPES),
            *_UNTYPED,
        }
    ),
    calls=frozenset(
        {
            SIZE,
            TENSOR_V2,
            TENSOR_V3,
            PARAMETER,
            Name("torch._utils", "_rebuild_meta_tensor_no_storage"),
            Name("torch", "device"),
            Name("argparse", "Namespace"),
            Name("builtins", "set"),
            Name("__builtin__", "set"),
            Name("deepspeed.checkpoint.universal_checkpoint", "SubparamShape"),
        }
    ),
    stateful=frozenset(
        {
            Name("argparse", "Namespace"),
            Name("deepspeed.checkpoint.universal_checkpoint", "SubparamShape"),
        }
    ),
    persistent=_storage,
)
"""What files of torch.save hold besides plain objects, as seen in states of DeepSpeed and of trainers."""


class _CappedReader(io.BufferedReader):
    """A file that refuses large reads: the standard library reads as much as the archive tells it to.

    Attributes:
        most: most bytes of one read.
        origin: the file, for the refusal.
    """

    most: int
    origin: Origin

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = self.most
        if size > self.most:
            raise FormatError(
                "SM006",
                f"the archive has a part of {size} bytes, over the limit of {self.most}",
                self.origin,
                help="no map needs as much; if you trust the file, save the map as JSON",
            )
        return super().read(size)


def read_torch_zip(
    path: Path | io.RawIOBase, origin: Origin, limits: Limits, grammar: Grammar = TORCH
) -> object:
    """The value that torch.save wrote, with tensors as ``Call`` records (see ``tensor_header``).

    ``path`` may be an open stream that can seek; it is closed afterwards.

    Raises:
        FormatError: SM001, also for a storage that is not there or not whole, SM003, SM006 or SM007.
        OSError: the file cannot be read at all.
    """
    with _opened(path, origin, limits, limits.pickle_bytes) as archive:
        entry = _pickle_entry(archive, origin)
        data = archive.read(entry)
        folder = f"{entry.filename.removesuffix(PICKLE)}data/"
        held = {
            one.filename.removeprefix(folder): one.file_size
            for one in archive.infolist()
            if one.filename.startswith(folder)
        }
    value = read_pickle(data, grammar, origin, limits)
    _check_storages(value, held, origin)
    return value


def _check_storages(value: object, held: Mapping[str, int], origin: Origin) -> None:
    """Refuse a value whose storages the archive does not hold whole: torch cannot load it.

    The directory of the archive says so, without a look at the data. One without bytes need not be there.
    """
    records = list(_records(value))
    missing = (_storage_fault(one, held) for one in records if isinstance(one, Storage))
    outside = (_tensor_fault(one, held) for one in records if isinstance(one, Call))
    fault = next((one for one in chain(missing, outside) if one is not None), None)
    if fault is not None:
        raise FormatError("SM001", fault, origin, help=DAMAGED_HELP)


def _storage_fault(storage: Storage, held: Mapping[str, int]) -> str | None:
    width = 1 if storage.dtype is None else ITEM_BYTES.get(storage.dtype)
    size = held.get(storage.key, None if storage.numel else 0)
    if size is None:
        return f"the storage {shown(storage.key)} is not in the archive"
    if width is not None and size != storage.numel * width:
        return f"the storage {shown(storage.key)} has {size} bytes, the pickle says {storage.numel * width}"
    return None


def _tensor_fault(record: Call, held: Mapping[str, int]) -> str | None:
    header = tensor_header(record)
    if header is None or not header.numel:
        return None
    room = held.get(header.storage, 0)
    if header.offset >= 0 and (header.last + 1) * ITEM_BYTES.get(header.dtype, 0) <= room:
        return None
    return (
        f"a tensor of shape {list(header.shape)} lies in elements {header.offset} to {header.last} of its "
        f"storage {shown(header.storage)}, which has {room} bytes"
    )


def _records(value: object) -> Iterator[Call | Storage]:
    """The calls and storages in a value. A part that is shared is looked at once."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, Storage):
            yield part
        if type(part) not in CONTAINERS or id(part) in seen:
            continue
        seen.add(id(part))
        match part:
            case dict():
                stack.extend(part.values())
            case list() | tuple():
                stack.extend(part)
            case Call():
                yield part
                stack += (part.args, part.state)


def read_storages(path: Path, origin: Origin, keys: Iterable[str], limits: Limits) -> dict[str, bytes]:
    """The raw bytes of storages of a file of torch.save, by key. This reads tensor data.

    Raises:
        FormatError: SM001 for a storage that is not there or is not little-endian, SM006 when they are more
            than ``limits.value_bytes``.
        OSError: the file cannot be read at all.
    """
    most = max(limits.value_bytes, limits.archive_directory_bytes)
    with _opened(path, origin, limits, most) as archive:
        folder = _little_endian(archive, origin)
        entries = {key: archive.getinfo(f"{folder}data/{key}") for key in keys}
        total = sum(entry.file_size for entry in entries.values())
        if total > limits.value_bytes:
            raise FormatError(
                "SM006",
                f"{total} bytes of tensor data, over the limit of {limits.value_bytes}",
                origin,
                help="audit it without values",
            )
        return {key: archive.read(entry) for key, entry in entries.items()}


def storage_places(
    path: Path, origin: Origin, keys: Iterable[str], limits: Limits
) -> dict[str, tuple[int, int]]:
    """Where the raw bytes of storages lie in a file of torch.save, by key: the first byte, and how many.

    Raises:
        FormatError: SM001 for a storage that is not there or is not little-endian.
        OSError: the file cannot be read at all.
    """
    with (
        _opened(path, origin, limits, limits.archive_directory_bytes) as archive,
        open(path, "rb", opener=regular) as file,
    ):
        folder = _little_endian(archive, origin)
        entries = {key: archive.getinfo(f"{folder}data/{key}") for key in keys}
        return {key: (_first_byte(file, entry), entry.file_size) for key, entry in entries.items()}


def _first_byte(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    """Where a member begins: behind its own header, which may be padded otherwise than the directory says."""
    file.seek(entry.header_offset)
    header = file.read(_HEADER.size)
    magic, name, extra = _HEADER.unpack(header)
    if magic != ZIP_MAGIC:
        raise zipfile.BadZipFile("a member has no header")
    return entry.header_offset + _HEADER.size + int(name) + int(extra)


def _little_endian(archive: zipfile.ZipFile, origin: Origin) -> str:
    """The folder of an archive whose tensor data is little-endian."""
    folder = _pickle_entry(archive, origin).filename.removesuffix(PICKLE)
    if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
        raise FormatError(
            "SM001", "its tensor data is not little-endian", origin, help="save it on another machine"
        )
    return folder


@contextmanager
def _opened(
    path: Path | io.RawIOBase, origin: Origin, limits: Limits, most: int
) -> Iterator[zipfile.ZipFile]:
    """The archive, opened: its directory within its limit, no read of a member of over ``most`` bytes."""
    with _CappedReader(io.FileIO(path, opener=regular) if isinstance(path, Path) else path) as file:
        file.origin = origin
        file.most = limits.archive_directory_bytes
        try:
            with zipfile.ZipFile(file) as archive:
                file.most = most
                yield archive
        except UNREADABLE_ZIP as error:
            raise FormatError(
                "SM001", f"not a readable zip archive: {shown(str(error))}", origin, help=DAMAGED_HELP
            ) from None


def _pickle_entry(archive: zipfile.ZipFile, origin: Origin) -> zipfile.ZipInfo:
    """The entry of the only pickle, in an archive as torch writes them: nothing compressed, no name twice."""
    entries = archive.infolist()
    names: set[str] = set()
    for entry in entries:
        if entry.filename in names:
            raise FormatError(
                "SM003", f"two members are called {shown(entry.filename)}", origin, help=RESAVE_HELP
            )
        names.add(entry.filename)
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & ENCRYPTED:
            raise FormatError(
                "SM007",
                f"the member {shown(entry.filename)} is compressed or encrypted; torch writes neither",
                origin,
                help=RESAVE_HELP,
            )
        if entry.compress_size != entry.file_size:
            raise FormatError(
                "SM001", f"the member {shown(entry.filename)} has two sizes", origin, help=DAMAGED_HELP
            )
    pickles = [entry for entry in entries if entry.filename.endswith(f"/{PICKLE}")]
    if len(pickles) != 1:
        raise FormatError(
            "SM001",
            f"{len(pickles)} members called data.pkl; a file of torch.save has one",
            origin,
            help=RESAVE_HELP,
        )
    return pickles[0]


def shape_of(value: object) -> tuple[int, ...] | None:
    """The shape that a torch.Size record, a tuple or a list of counts stands for; None for anything else."""
    if isinstance(value, Call) and value.function == SIZE and len(value.args) == 1:
        value = value.args[0]
    if isinstance(value, tuple | list) and all(type(extent) is int and extent >= 0 for extent in value):
        return tuple(extent for extent in value if isinstance(extent, int))
    return None


def tensor_header(value: object) -> TensorHeader | None:
    """The header of a tensor record; None when the value is no tensor, or one of a kind not known."""
    if not isinstance(value, Call):
        return None
    if value.function == PARAMETER and value.args:
        return tensor_header(value.args[0])
    if value.function == FROM_TYPE:
        # A tensor with attributes: what makes it without them, its type, the arguments, the attributes.
        match value.args:
            case (Name() as function, _, tuple(args), _) if function in (TENSOR_V2, TENSOR_V3):
                return tensor_header(Call(function, args))
        return None
    if value.function not in (TENSOR_V2, TENSOR_V3):
        return None
    match value.args:
        case (Storage() as storage, int(offset), size, strides, *rest):
            shape, steps = shape_of(size), shape_of(strides)
            dtype = storage.dtype
            if value.function == TENSOR_V3 and len(rest) >= 3 and isinstance(rest[2], Name):
                dtype = rest[2].name
            if shape is None or steps is None or len(shape) != len(steps) or dtype is None:
                return None
            return TensorHeader(dtype, shape, steps, offset, storage.key)
    return None
