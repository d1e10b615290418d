"""A consolidated tensor held against the parts it was put together from, by their bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from verifier.formats.hf_dcp.tensors import HOLDER, Tensor
from verifier.formats.reading.gathered import Gathered
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import shown
from verifier.formats.reading.regular import regular
from verifier.formats.safetensors.header import BITS, Header, StoredTensor
from verifier.formats.safetensors.replica_bits import replica_drift, run_count
from verifier.formats.safetensors.stored_bytes import has_right_size
from verifier.geometry.strided import StridedView, row_major
from verifier.model.box_map import BoxMap
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault

WHOLE = "the consolidated tensor"


@dataclass(frozen=True, slots=True)
class Consolidated:
    """A tensor that is stored as a whole, and the file that it is in."""

    path: Path
    header: Header
    tensor: StoredTensor


def consolidation_drift(
    tensor: Tensor, boxes: BoxMap, whole: Consolidated, folder: Path, limits: Limits, gathered: Gathered
) -> list[Fault]:
    """SM404 for the least element that was put together wrongly; ``folder`` has the files of the parts.

    Raises:
        OSError: a file cannot be read any more.
    """
    stored = _stored(tensor, whole)
    paths = [folder / part.file for part in tensor.parts] + [whole.path]
    together = _with_whole(boxes)
    reason = _incomparable(tensor, boxes, whole, together, limits)
    if reason is not None:
        gathered.unchecked.append(
            f"whether {shown(tensor.name)} was consolidated as it is in parts: {reason}"
        )
        return []
    item = BITS[whole.tensor.dtype] // 8

    def read(holder: int, first: int, number: int) -> bytes:
        header, held = stored[holder]
        with open(paths[holder], "rb", opener=regular) as file:
            file.seek(header.data_start + held.begin + first * item)
            return file.read(number * item)

    fault, compared = replica_drift(together, read, item)
    if fault is None:
        gathered.holds("consolidated runs", compared)
        return []
    return [_told(fault, boxes.count)]


def _with_whole(boxes: BoxMap) -> ShardMap:
    """The parts, and behind them one more holder: the whole tensor."""
    parts = boxes.to_shard_map()
    view = StridedView(0, boxes.logical_shape, row_major(boxes.logical_shape))
    whole = RankShard(boxes.logical_shape, (Piece(view, view, (boxes.count,)),))
    return replace(parts, ranks={**parts.ranks, boxes.count: whole})


def _incomparable(
    tensor: Tensor, boxes: BoxMap, whole: Consolidated, together: ShardMap, limits: Limits
) -> str | None:
    """Why values cannot be compared, None when they can."""
    stored = _stored(tensor, whole)
    if whole.tensor.shape != boxes.logical_shape:
        return "its shapes differ"
    if len({held.dtype for _, held in stored}) > 1:
        return "its types differ"
    if BITS[whole.tensor.dtype] % 8:
        return "its elements do not begin at bytes"
    if any(held.end > header.data_bytes or not has_right_size(held) for header, held in stored):
        return "not all of its bytes are there"
    if any(not _inside(boxes, position) for position in range(boxes.count)):
        return "a part leaves it"
    runs = run_count(together)
    if runs > limits.replica_runs:
        return f"{runs} stretches of memory, over the limit of {limits.replica_runs}"
    return None


def _stored(tensor: Tensor, whole: Consolidated) -> list[tuple[Header, StoredTensor]]:
    """The parts, and behind them the whole."""
    return [*((part.header, part.tensor) for part in tensor.parts), (whole.header, whole.tensor)]


def _inside(boxes: BoxMap, position: int) -> bool:
    offsets, sizes = boxes.box(position)
    ends = zip(offsets, sizes, boxes.logical_shape, strict=True)
    return all(offset >= 0 and offset + size <= extent for offset, size, extent in ends)


def _told(fault: Fault, whole: int) -> Fault:
    """The fault as one of the parts: the map that people see has no holder for the whole."""
    holders = [rank for rank, _ in fault.pieces]
    return replace(
        fault,
        pieces=tuple([place for place in fault.pieces if place[0] != whole]),
        visits=tuple([visit for visit in fault.visits if visit.rank != whole]),
        values={
            **fault.values,
            "who": tuple([WHOLE if holder == whole else f"{HOLDER} {holder}" for holder in holders]),
        },
    )
