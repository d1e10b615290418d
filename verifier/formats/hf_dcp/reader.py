"""Torch's distributed checkpoints in Hugging Face storage: safetensors files with a block of each tensor.

No file states the full shape of a tensor, and none lists the files. Torch takes the last end of a stored
block for the shape. Here that is said (CK201), and shapes stated elsewhere are preferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from verifier.formats.hf_dcp.consolidated import check_names, consolidated_tensors, type_faults
from verifier.formats.hf_dcp.names import SHARDED, has_shards, has_shards_below, shard_name
from verifier.formats.hf_dcp.parts import Part, shard_file
from verifier.formats.hf_dcp.tensors import Tensor
from verifier.formats.hf_dcp.values import Consolidated, consolidation_drift
from verifier.formats.reading.document import BoxSubject, Document, Refusal
from verifier.formats.reading.folder_files import file_inside
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import FormatError, shown, some
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.reading.stated_shapes import unstored_fault
from verifier.formats.safetensors.files import SHARDING_INFO
from verifier.formats.safetensors.folder import SafetensorsFolder, files_of, open_files
from verifier.formats.safetensors.reader import gather_folder
from verifier.formats.safetensors.stored_bytes import EXCHANGED, VALUES, has_right_size
from verifier.model.origin import Origin

KIND = "hf-dcp"
REPLICAS = "whether replicas were equal: of the ranks that held a block one wrote it"
CONSOLIDATION = "whether consolidated tensors are equal to their parts (--values compares them)"

Shapes = Mapping[str, tuple[int, ...]]


def read_hf_dcp(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a folder of shards, or of consolidated files with a folder of shards below them.

    Raises:
        FormatError: SM006 for too many files.
        OSError: the folder cannot be listed.
    """
    gathered = Gathered()
    above: SafetensorsFolder | None = None
    folder, prefix = path, origin.file.rstrip("/")
    sight = Sight(path)
    if not has_shards(sight.names) and has_shards_below(sight):
        above = gather_folder(path, origin.file, request, gathered, known=(SHARDED,))
        folder, prefix = path / SHARDED, f"{prefix}/{SHARDED}"
    files = files_of(folder, prefix, request.limits)
    whole = {} if above is None else consolidated_tensors(above)
    shards = _Shards(open_files(folder, prefix, files, request.limits, gathered), whole, request, gathered)
    shards.gather()
    if above is not None:
        check_names(above, shards.names, request.limits, gathered)
    if not (whole and request.values):
        gathered.unchecked += (VALUES, CONSOLIDATION) if whole else (VALUES,)
    gathered.unchecked += (EXCHANGED, REPLICAS)
    return gathered.document(origin.file, KIND)


class _Shards:
    """A folder of shards while its parts are put together.

    ``_partly`` are the names of tensors of which some part cannot be placed: nothing is proved of those.
    """

    __slots__ = ("_folder", "_gathered", "_partly", "_request", "_shapes", "_whole")

    def __init__(
        self,
        folder: SafetensorsFolder,
        whole: Mapping[str, Consolidated],
        request: Request,
        gathered: Gathered,
    ) -> None:
        self._folder = folder
        self._whole = whole
        self._request = request
        self._gathered = gathered
        self._shapes: Shapes = {
            **{name: each.tensor.shape for name, each in whole.items()},
            **(request.shapes or {}),
        }
        self._partly: set[str] = set()

    @property
    def names(self) -> dict[str, None]:
        """The names of the tensors in the shards, in their order."""
        return dict.fromkeys(name for header in self._folder.headers.values() for name in header.names)

    def gather(self) -> None:
        """Add the tensors, and what is wrong with the files together."""
        tensors = self._parts()
        self._model_files()
        self._unplaced(tensors)
        self._gathered.faults += unstored_fault(self._shapes, {*tensors, *self._partly})
        whole = {name: parts for name, parts in tensors.items() if name not in self._partly}
        self._tensors(whole)
        if self._partly:
            names = some(sorted(self._partly))
            self._gathered.unchecked.append(
                f"whether all of a tensor is stored, where a part cannot be placed: {names}"
            )

    def _parts(self) -> dict[str, list[Part]]:
        """The parts of each tensor, in the order of the files."""
        found: dict[str, list[Part]] = {}
        ghosts: list[tuple[str, str]] = []
        for header in self._folder.headers.values():
            self._partly.update({*header.names} - {tensor.name for tensor in header.tensors})
            try:
                file = shard_file(header, self._request.limits)
            except FormatError as error:
                self._gathered.refusals.append(Refusal.of(header.origin.file, error))
                self._partly.update(header.names)
                continue
            self._gathered.refusals += file.refusals
            self._partly.update(refusal.name for refusal in file.refusals)
            ghosts += [(header.origin.file, name) for name in file.ghosts]
            for part in file.parts:
                found.setdefault(part.tensor.name, []).append(part)
        if ghosts:
            file_name, name = ghosts[0]
            self._fault(
                "CK103",
                f"the part of {shown(name)}",
                "is not there",
                stated=f"{SHARDING_INFO} of the file says where it begins",
                file=file_name,
                number=len(ghosts),
            )
        return found

    def _model_files(self) -> None:
        """What file names say of each other: how many model files there are; each has a shard."""
        named = {name: found for name in self._folder.files if (found := shard_name(name)) is not None}
        self._unopened([*named])
        counts = {found.models: name for name, found in reversed(named.items())}
        if len(counts) > 1:
            (first, one), (second, other), *_ = counts.items()
            self._fault(
                "CK114",
                f"the name of {shown(other)}",
                f"counts {second} model files",
                stated=f"that of {shown(one)} counts {first}",
            )
            return
        for models in counts:
            present = {found.model for found in named.values() if 1 <= found.model <= models}
            if len(present) < models:
                number = next(k for k in range(1, models + 1) if k not in present)
                self._fault(
                    "CK101",
                    f"every shard of model file {number}",
                    "is missing",
                    stated=f"the file names count {models} model files",
                    number=models - len(present),
                )

    def _unopened(self, names: list[str]) -> None:
        """Entries of the folder that lead to no file. What leads out of the folder was told with its link."""
        folder = self._folder
        opened = {*folder.headers, *folder.unreadable}
        gone = [name for name in names if name not in opened and file_inside(folder.path, name) is not None]
        if gone:
            self._fault(
                "CK101",
                f"the file {shown(gone[0])}",
                "is not there",
                stated="its name is, for a link to nothing or for no regular file",
                number=len(gone),
            )

    def _unplaced(self, tensors: Mapping[str, list[Part]]) -> None:
        """Parts that no file places. A lone one is all of its tensor."""
        unlisted: list[Part] = []
        copies: list[list[Part]] = []
        for name, parts in tensors.items():
            unplaced = [part for part in parts if part.offsets is None]
            listed = [part for part in unplaced if part.informed]
            if listed:
                unlisted += listed
            elif unplaced and len(parts) > 1:
                copies.append(parts)
            else:
                continue
            self._partly.add(name)
        if unlisted:
            part = unlisted[0]
            self._fault(
                "CK105",
                f"the part of {shown(part.tensor.name)}",
                f"is not in {SHARDING_INFO}",
                file=part.header.origin.file,
                reason="nothing tells where it begins in its tensor, and torch cannot read the checkpoint",
                number=len(unlisted),
            )
        if copies:
            first, second, *_ = copies[0]
            self._fault(
                "CK106",
                f"the tensor {shown(first.tensor.name)}",
                f"is in {shown(first.file)} and in {shown(second.file)}",
                stated=f"no {SHARDING_INFO} tells which part of it each one is",
                file=self._folder.prefix,
                reason="torch takes every part to begin at the first element: all but one are lost",
                number=len(copies),
            )

    def _tensors(self, tensors: Mapping[str, list[Part]]) -> None:
        inferred: list[str] = []
        for name, parts in tensors.items():
            tensor = Tensor(name, parts, self._shapes.get(name))
            if tensor.is_mixed:
                self._partly.add(name)
                self._gathered.faults.append(tensor.mixed_fault())
                continue
            if tensor.stated is None:
                inferred.append(name)
            self._gathered.boxes.append(self._compared(tensor, tensor.boxes(Origin(self._folder.prefix))))
            self._gathered.holds("part sizes", sum(has_right_size(part.tensor) for part in parts))
        if not inferred:
            return
        remark = set_fault(
            "CK201",
            f"the shape of {shown(inferred[0])}",
            "is taken from its parts",
            stated="and stated nowhere",
            file=self._folder.prefix,
            reason="without its last parts a tensor reads as a complete smaller one",
            number=len(inferred),
        )
        self._gathered.remarks.append(remark)
        self._gathered.unchecked.append(
            f"whether {self._folder.prefix} lacks its last shard files: nothing counts them, or states full "
            "shapes (--expect-shapes does)"
        )

    def _compared(self, tensor: Tensor, subject: BoxSubject) -> BoxSubject:
        """The boxes of a tensor, with what its consolidated copy says against it."""
        whole = self._whole.get(tensor.name)
        if whole is None:
            return subject
        faults = type_faults(tensor, whole)
        if self._request.values:
            faults += consolidation_drift(
                tensor, subject.boxes, whole, self._folder.path, self._request.limits, self._gathered
            )
        return replace(subject, faults=(*subject.faults, *faults))

    def _fault(
        self,
        code: str,
        what: str,
        found: str,
        *,
        stated: str | None = None,
        file: str | None = None,
        reason: str | None = None,
        number: int = 1,
    ) -> None:
        fault = set_fault(
            code,
            what,
            found,
            stated=stated,
            file=self._folder.prefix if file is None else file,
            reason=reason,
            number=number,
        )
        self._gathered.faults.append(fault)
