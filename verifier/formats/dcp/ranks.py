"""Distributed checkpoints written without collectives: one metadata file for each rank, replicas kept.

Torch validates nothing there when it saves. Each rank is a holder, and the ranks that have one box are its
locations; so holes, wrong replicas and contradictions between ranks show in the map of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from verifier.formats.dcp.contents import Contents, StoredTensor, chunk_label
from verifier.formats.dcp.gather import StoredParts, gather_objects
from verifier.formats.dcp.metadata import read_metadata
from verifier.formats.dcp.sight import rank_of_data, rank_of_metadata
from verifier.formats.reading.document import Refusal, Subject
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.rank_boxes import Box, box_map, leaves
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.stated_shapes import other_shape, unstored_fault
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

SOUNDNESS = Expectation()


def gather_ranks(
    folder: Path, origin: Origin, names: Sequence[str], request: Request, gathered: Gathered
) -> None:
    """Add the checkpoint of a folder in which each rank has a metadata file.

    Raises:
        FormatError: SM006 when there are too many.
    """
    prefix = origin.file.rstrip("/")
    ranked = {rank: name for name in names if (rank := rank_of_metadata(name)) is not None}
    if len(ranked) > request.limits.files:
        raise FormatError(
            "SM006",
            f"{len(ranked)} metadata files, over the limit of {request.limits.files}",
            origin,
            help="name the files to check one by one",
        )
    ranks: dict[int, Contents] = {}
    for rank, name in sorted(ranked.items()):
        file = Origin(f"{prefix}/{name}")
        try:
            ranks[rank] = read_metadata(folder / name, file, request.limits)
        except FormatError as error:
            gathered.refusals.append(Refusal.of(name, error))
        except OSError as error:
            gathered.refusals.append(_unopened(name, file, error))
    gathered.faults += _missing_ranks(ranked, names, origin.file)
    parts = [*ranks.values()]
    with StoredParts(parts, folder, Origin(f"{prefix}/__*.metadata"), request, gathered) as stored:
        _gather_tensors(ranks, prefix, request, gathered, stored)
        stored.check(names)
    gather_objects(parts, gathered)
    gathered.unchecked.append("whether replicas are equal: values are not read")


def _unopened(name: str, file: Origin, error: OSError) -> Refusal:
    return Refusal(
        name=name,
        origin=file,
        code="SM001",
        message=f"cannot be opened: {error.strerror}",
        help="check the path and its permissions",
    )


def _missing_ranks(ranked: Mapping[int, str], names: Sequence[str], file: str) -> list[Fault]:
    """CK101 for ranks without metadata, although the next one has, or they have a data file."""
    with_data = {rank for name in names if (rank := rank_of_data(name)) is not None}
    known = {*ranked, *with_data}
    # Not a range up to the highest rank: a file name can hold any number.
    missing = sorted(({*known} | {rank - 1 for rank in known if rank}) - {*ranked})
    if not missing:
        return []
    return [
        set_fault(
            "CK101",
            f"the metadata of rank {missing[0]}",
            "is not there",
            stated=f"other files show that there was a rank {missing[0]}",
            file=file,
            number=len(missing),
        )
    ]


def _gather_tensors(
    ranks: Mapping[int, Contents], prefix: str, request: Request, gathered: Gathered, stored: StoredParts
) -> None:
    holders: dict[str, dict[int, StoredTensor]] = {}
    for rank, contents in ranks.items():
        gathered.refusals += contents.refusals
        for tensor in contents.tensors:
            holders.setdefault(tensor.name, {})[rank] = tensor
    gathered.faults += unstored_fault(request.shapes, holders)
    for name, tensors in holders.items():
        first = min(tensors)
        faults = [
            *_disagreements(tensors, prefix),
            *_outside(tensors),
            *other_shape(name, tensors[first].shape, request.shapes),
        ]
        for rank, tensor in tensors.items():
            faults += stored.faults_of(ranks[rank], tensor)
        origin = Origin(f"{prefix}/__{first}.metadata").child("state_dict_metadata", name)
        shape = tensors[first].shape
        # A rank that states another shape still says where its chunks are.
        placed = {rank: _boxes(tensor) for rank, tensor in tensors.items() if len(tensor.shape) == len(shape)}
        gathered.subjects.append(
            Subject(
                name=name,
                origin=origin,
                shard_map=box_map(name, shape, placed, origin),
                expectation=SOUNDNESS,
                faults=tuple(faults),
            )
        )


def _disagreements(tensors: Mapping[int, StoredTensor], prefix: str) -> list[Fault]:
    """CK114 for the first rank that states another shape or type than the lowest one; counts all."""
    first = min(tensors)
    base = tensors[first]
    others = [
        rank for rank, tensor in tensors.items() if (tensor.shape, tensor.dtype) != (base.shape, base.dtype)
    ]
    if not others:
        return []
    other = tensors[others[0]]
    return [
        set_fault(
            "CK114",
            f"rank {others[0]}",
            f"says that {shown(base.name)} is {other.dtype} {list(other.shape)}",
            stated=f"rank {first} says {base.dtype} {list(base.shape)}",
            file=f"{prefix}/__{others[0]}.metadata",
            number=len(others),
        )
    ]


def _boxes(tensor: StoredTensor) -> list[Box]:
    axes = len(tensor.shape)
    cuts = [slice(position * axes, (position + 1) * axes) for position in range(tensor.count)]
    return [(tuple(tensor.offsets[cut]), tuple(tensor.sizes[cut])) for cut in cuts]


def _outside(tensors: Mapping[int, StoredTensor]) -> list[Fault]:
    """CK108 for the first chunk that leaves its tensor along a dimension; counts all."""
    wrong = [
        (rank, tensor, box, axis)
        for rank, tensor in tensors.items()
        for box in _boxes(tensor)
        if (axis := leaves(box, tensor.shape)) is not None
    ]
    if not wrong:
        return []
    rank, tensor, (offsets, sizes), axis = wrong[0]
    return [
        set_fault(
            "CK108",
            f"the chunk {chunk_label(tensor.name, offsets)} of rank {rank}",
            f"reaches {offsets[axis]} to {offsets[axis] + sizes[axis]} in dimension {axis}",
            stated=f"the tensor ends at {tensor.shape[axis]}",
            number=len(wrong),
        )
    ]
