"""From the contents of metadata to the parts of a document: tensors as boxes, and what their storage says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from verifier.formats.dcp.contents import Contents, StoredTensor
from verifier.formats.dcp.nesting import check_nesting
from verifier.formats.dcp.payload import PayloadReader
from verifier.formats.dcp.ranges import Ranges
from verifier.formats.dcp.storage import DATA_SUFFIX, DataFiles, check_entries
from verifier.formats.reading.document import BoxSubject
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.stated_shapes import unstored_fault
from verifier.model.box_map import BoxMap
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

NEVER = (
    "values: no tensor data is read",
    "whether two chunks of one shape, or two tensors, were exchanged: no file tells",
)
REPLICAS = "whether replicas were equal: of the ranks that held a chunk one wrote it"
PAYLOAD = "payload headers"

FaultsOf = Callable[[StoredTensor], tuple[Fault, ...]]
"""What the storage of one tensor is at fault with."""


def nothing_stored(tensor: StoredTensor) -> tuple[Fault, ...]:
    """No fault: storage was not looked at."""
    return ()


def tensor_box(
    tensor: StoredTensor, origin: Origin, request: Request, faults: tuple[Fault, ...] = ()
) -> BoxSubject:
    """A tensor as its chunks; ``origin`` is the metadata file."""
    boxes = BoxMap(
        name=tensor.name,
        logical_shape=tensor.shape,
        offsets=tensor.offsets,
        sizes=tensor.sizes,
        count=tensor.count,
        origin=origin.child("state_dict_metadata", tensor.name),
    )
    expected = None if request.shapes is None else request.shapes.get(tensor.name)
    return BoxSubject(boxes=boxes, faults=faults, expected_shape=expected)


def gather_tensors(
    contents: Contents,
    origin: Origin,
    request: Request,
    gathered: Gathered,
    faults_of: FaultsOf = nothing_stored,
) -> None:
    """Add each tensor of a metadata file, and what in it could not be read."""
    gathered.boxes += (tensor_box(tensor, origin, request, faults_of(tensor)) for tensor in contents.tensors)
    gathered.refusals += contents.refusals
    gathered.faults += unstored_fault(request.shapes, {tensor.name for tensor in contents.tensors})


def gather_objects(parts: Iterable[Contents], gathered: Gathered) -> None:
    """Say that bytes which are no tensor are left alone."""
    for part in parts:
        for item in part.objects:
            gathered.note("pickled objects, which are never unpickled", item.name)


class StoredParts:
    """The data files of a checkpoint, checked against one or more metadata files.

    Used as a context: headers are read while it is open.
    """

    def __init__(
        self, parts: Sequence[Contents], folder: Path, origin: Origin, request: Request, gathered: Gathered
    ) -> None:
        """``origin`` is the metadata, a file in ``folder``."""
        self._parts = parts
        self._origin = origin
        self._gathered = gathered
        self._stack = ExitStack()
        paths = dict.fromkeys(path for part in parts for path in part.storage.paths)
        self._files = DataFiles.of(folder, [*paths])
        alone = self._files.missing and not self._files.sizes
        self._ranges = None if alone else Ranges(parts, self._files)
        self._reader: PayloadReader | None = None
        if request.payload and self._files.sizes:
            prefix = origin.file.rpartition("/")[0]
            reader = PayloadReader(self._files, f"{prefix}/" if prefix else "", request.limits)
            self._reader = self._stack.enter_context(reader)

    def __enter__(self) -> StoredParts:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def faults_of(self, part: Contents, tensor: StoredTensor) -> tuple[Fault, ...]:
        """What the headers of a tensor's chunks contradict; none where they are not asked for."""
        if self._reader is None:
            return ()
        found = self._reader.check(part, tensor)
        self._gathered.refusals += found.refusals
        self._gathered.holds(PAYLOAD, found.read)
        return found.faults

    def check(self, names: Sequence[str]) -> None:
        """Add what is wrong with entries, files and ranges; ``names`` are the files in the folder."""
        file, gathered = self._origin.file, self._gathered
        check_entries(self._parts, file, gathered)
        check_nesting(self._parts, file, gathered)
        if self._ranges is None:
            gathered.remarks.append(_absent(self._files, file))
            gathered.unchecked.append("byte ranges: none of the data files is there")
        else:
            self._ranges.check(file, gathered)
            self._ignored(names)
        if self._reader is None:
            gathered.unchecked.append(
                "whether stored headers say what the metadata says: --payload reads them"
            )

    def _has_bytes(self, name: str) -> bool:
        """Whether a file holds anything. A rank that has nothing to store writes an empty one."""
        try:
            return (self._files.folder / name).stat().st_size > 0
        except OSError:
            return True

    def _ignored(self, names: Sequence[str]) -> None:
        known = {*self._files.sizes, *self._files.missing, *self._files.foreign}
        ignored = [
            name
            for name in names
            if name.endswith(DATA_SUFFIX) and name not in known and self._has_bytes(name)
        ]
        if ignored:
            self._gathered.remarks.append(
                set_fault(
                    "CK202",
                    f"the data file {shown(ignored[0])}",
                    "is named by no metadata",
                    file=self._origin.file,
                    number=len(ignored),
                )
            )


def _absent(files: DataFiles, file: str) -> Fault:
    return set_fault(
        "CK203",
        f"the data file {shown(files.missing[0])}",
        "is not there, and no other is",
        stated="the metadata was checked by itself",
        file=file,
        number=len(files.missing),
    )
