"""State that each rank of FSDP1 saved by itself: ``pytorch_model_fsdp_rank0.bin`` and the like.

A local state dict has flat parameters only: which parameter lies where inside is not in the file. A sharded
one has the parameters themselves, cut in rows. Either way every file says the whole layout, so one gives the
map and the others must say the same; the shards of each rank must be what the layout says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verifier.formats.pickles.torch_zip import read_torch_zip
from verifier.formats.reading.document import Document, Refusal, Subject
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.rank_boxes import Box, box_map, leaves
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.torch_files.rank_agreement import disagree, first_counted
from verifier.formats.torch_files.rank_files import rank_in, sets_in
from verifier.formats.torch_files.sharded_tensor import FSDP1, ShardedTensor, ShardedTensors, sharded_tensors
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

KIND = "fsdp1"
SOUNDNESS = Expectation()
FLAT = "_flat_param"
NEVER = (
    "values: no tensor data is read",
    "whether the shards of two tensors of one shape were exchanged: no file tells",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardFile:
    """The file of one rank; ``rank`` is that of its name, and of what it says where the name has none."""

    name: str
    origin: Origin
    rank: int | None
    held: ShardedTensors


def read_fsdp1(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a folder of per-rank files, or of one such file.

    Raises:
        FormatError: SM001 when there is no such file, SM006 for too many of them.
        OSError: the folder cannot be listed, or the file not opened.
    """
    gathered = Gathered()
    if path.is_dir():
        prefix = origin.file.rstrip("/")
        for names in sets_in(path, origin, request.limits).values():
            places = [(path / name, Origin(f"{prefix}/{name}")) for name in names]
            _gather_set(places, gathered, request.limits)
    else:
        files = [_file(path, origin, request.limits)]
        _gather_tensors(files, gathered)
        gathered.unchecked.append("the files of other ranks: one file was named, not its folder")
    gathered.unchecked += NEVER
    return gathered.document(origin.file, KIND)


def _gather_set(places: Sequence[tuple[Path, Origin]], gathered: Gathered, limits: Limits) -> None:
    """Add files that belong together; one that cannot be read hides no other."""
    files: list[ShardFile] = []
    refused: set[int | None] = set()
    for path, place in places:
        try:
            files.append(_file(path, place, limits))
        except FormatError as error:
            refused.add(rank_in(path.name))
            gathered.refusals.append(Refusal.of(path.name, error))
        except OSError as error:
            refused.add(rank_in(path.name))
            help_text = "check the path and its permissions"
            error_text = f"cannot be opened: {error.strerror}"
            gathered.refusals.append(
                Refusal(name=path.name, origin=place, code="SM001", message=error_text, help=help_text)
            )
    gathered.faults += _copied(files)
    gathered.faults += _missing(files, refused)
    _gather_tensors(files, gathered)
    gathered.holds("rank files", len(files) if not gathered.faults else 0)


def _file(path: Path, origin: Origin, limits: Limits) -> ShardFile:
    held = sharded_tensors(read_torch_zip(path, origin, limits, FSDP1), origin)
    writers = (tensor.writer for tensor in held.tensors.values())
    stated = next((rank for rank in writers if rank is not None), None)
    named = rank_in(path.name)
    return ShardFile(name=path.name, origin=origin, rank=named if stated is None else stated, held=held)


def _copied(files: Sequence[ShardFile]) -> list[Fault]:
    """CK114 for a file that another rank wrote than its name says."""
    wrong = [
        disagree(
            "the file",
            f"was written by rank {file.rank}",
            stated=f"its name says rank {rank_in(file.name)}",
            file=file.name,
        )
        for file in files
        if rank_in(file.name) not in (None, file.rank)
    ]
    return [first_counted(wrong)] if wrong else []


def _missing(files: Sequence[ShardFile], refused: set[int | None]) -> list[Fault]:
    """CK101 for ranks that hold a shard and have no file."""
    stated = {
        rank: None
        for file in files
        for tensor in file.held.tensors.values()
        for rank, _ in tensor.shards
        if rank is not None
    }
    there = {file.rank for file in files} | {rank_in(file.name) for file in files} | refused
    missing = [rank for rank in stated if rank not in there]
    if not missing:
        return []
    return [
        set_fault(
            "CK101",
            f"the file of rank {min(missing)}",
            "is not there",
            stated=f"{files[0].name} says that rank {min(missing)} holds a shard",
            number=len(missing),
        )
    ]


def _gather_tensors(files: Sequence[ShardFile], gathered: Gathered) -> None:
    for file in files:
        gathered.refusals += (Refusal.of(name, error) for name, error in file.held.refused.items())
        for name in file.held.plain:
            if file is files[0]:
                gathered.note("plain tensors beside sharded ones, which say nothing of ranks", name)
    for name in {name: None for file in files for name in file.held.tensors}:
        holding = [(file, file.held.tensors[name]) for file in files if name in file.held.tensors]
        subject = _subject(name, holding, gathered)
        if subject is not None:
            gathered.subjects.append(subject)
        if name.rpartition(".")[2] == FLAT:
            gathered.note("which parameters lie in a flat parameter, and where: the file does not say", name)


def _subject(
    name: str, holding: Sequence[tuple[ShardFile, ShardedTensor]], gathered: Gathered
) -> Subject | None:
    """The map of one tensor; None when the file does not say which ranks hold its shards."""
    base_file, base = holding[0]
    boxes: dict[int, list[Box]] = {}
    for _, tensor in holding:
        if tensor.shape == base.shape:
            # Ranks of several groups, as under hybrid sharding, are all stated by files of their own.
            for rank, held in _by_rank(tensor).items():
                boxes.setdefault(rank, held)
    if any(rank is None for _, tensor in holding for rank, _ in tensor.shards):
        gathered.note("tensors whose shards name no rank", name)
        return None
    faults = [*_disagreements(name, holding), *_outside(name, base), *_stored(name, holding)]
    return Subject(
        name=name,
        origin=base_file.origin,
        shard_map=box_map(name, base.shape, boxes, base_file.origin),
        expectation=SOUNDNESS,
        faults=tuple(faults),
    )


def _by_rank(tensor: ShardedTensor) -> dict[int, list[Box]]:
    boxes: dict[int, list[Box]] = {}
    for rank, box in tensor.shards:
        if rank is not None:
            boxes.setdefault(rank, []).append(box)
    return boxes


def _disagreements(name: str, holding: Sequence[tuple[ShardFile, ShardedTensor]]) -> list[Fault]:
    """CK114 for the first file that states another layout than the first one does; counts all."""
    base_file, base = holding[0]
    layout = _by_rank(base)
    wrong = [
        disagree(
            f"the layout of {shown(name)}",
            "is another one",
            stated=f"{base_file.name} says {_difference(base, layout, tensor)}",
            file=file.name,
        )
        for file, tensor in holding[1:]
        if _differ(base, layout, tensor)
    ]
    return [first_counted(wrong)] if wrong else []


def _differ(base: ShardedTensor, layout: Mapping[int, list[Box]], other: ShardedTensor) -> bool:
    theirs = _by_rank(other)
    shared = layout.keys() & theirs.keys()
    # Another group of ranks states its own ranks, and as many of the same boxes.
    same_boxes = sorted(box for _, box in base.shards) == sorted(box for _, box in other.shards)
    return base.shape != other.shape or not same_boxes or any(layout[rank] != theirs[rank] for rank in shared)


def _difference(base: ShardedTensor, layout: Mapping[int, list[Box]], other: ShardedTensor) -> str:
    """What the first file says where the other says something else."""
    if base.shape != other.shape:
        return f"a tensor of shape {list(base.shape)}, not {list(other.shape)}"
    theirs = _by_rank(other)
    for rank, held in layout.items():
        if theirs.get(rank, held) != held:
            return f"that rank {rank} begins at {list(held[0][0])}"
    return f"{len(base.shards)} shards, and other ones"


def _outside(name: str, tensor: ShardedTensor) -> Iterator[Fault]:
    """CK108 for the first shard that leaves the tensor along a dimension."""
    for rank, box in tensor.shards:
        axis = leaves(box, tensor.shape)
        if axis is not None:
            yield set_fault(
                "CK108",
                f"the shard of {shown(name)} on rank {rank}",
                f"reaches {box[0][axis]} to {box[0][axis] + box[1][axis]} in dimension {axis}",
                stated=f"the tensor ends at {tensor.shape[axis]}",
            )
            return


def _stored(name: str, holding: Sequence[tuple[ShardFile, ShardedTensor]]) -> list[Fault]:
    """CK110 for the first shard that is stored with another shape, or that the layout does not have."""
    wrong: list[Fault] = []
    for file, tensor in holding:
        own = _by_rank(tensor).get(file.rank, []) if file.rank is not None else None
        for box, header in tensor.local:
            what = f"the stored shard of {shown(name)}"
            if header.shape != box[1]:
                found, stated = f"has the shape {list(header.shape)}", f"the layout says {list(box[1])}"
            elif own is not None and box not in own:
                found, stated = (
                    f"begins at {list(box[0])}",
                    f"the layout has no such shard of rank {file.rank}",
                )
            else:
                continue
            wrong.append(set_fault("CK110", what, found, stated=stated, file=file.name))
    return [first_counted(wrong)] if wrong else []
