"""The stored replicas of DTensors, compared bit for bit where values are asked for.

Every rank saved its local tensor, so that of a replicated one there are as many copies as ranks. They are
read from where they lie in their files, a megabyte at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verifier.formats.pickles.dtypes import ITEM_BYTES
from verifier.formats.pickles.torch_zip import TensorHeader, storage_places
from verifier.formats.reading.gathered import Gathered
from verifier.formats.reading.refusal import FormatError
from verifier.formats.reading.regular import regular
from verifier.formats.reading.request import Request
from verifier.formats.safetensors.replica_bits import replica_drift, run_count, stays_inside
from verifier.formats.torch_files.dtensor_records import DTensor
from verifier.formats.torch_files.rank_files import RankFile
from verifier.geometry.strided import row_major
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault

_PACKED = 1
"""Bytes of an element of a type that packs several numbers into one, as torch counts them."""

Local = Mapping[int, tuple[RankFile, TensorHeader]]
"""The local tensor of each rank, with its file."""


class Replicas:
    """Compares replicas, and keeps what could not be compared.

    Attributes:
        compared: how many pairs of stretches of memory are equal.
    """

    __slots__ = ("_left", "_places", "_request", "compared")

    def __init__(self, request: Request) -> None:
        self.compared = 0
        self._request = request
        self._left = Gathered()
        self._places: dict[tuple[str, str], tuple[int, int]] = {}

    def unchecked(self) -> tuple[str, ...]:
        """What could not be compared, one line for each reason."""
        return self._left.document("", "").unchecked

    def drift(self, shard_map: ShardMap, holding: Sequence[tuple[RankFile, DTensor]]) -> Iterator[Fault]:
        """SM404 for the least element of a tensor of which two ranks stored different bits."""
        if not any(len(piece.locations) > 1 for _, _, piece in shard_map.pieces()):
            return
        local = {file.writer: (file, tensor.local) for file, tensor in holding if file.writer is not None}
        try:
            reason = self._incomparable(shard_map, local)
            if reason is None:
                fault, compared = self._compared(shard_map, local)
                self.compared += compared
                if fault is not None:
                    yield fault
        except FormatError as error:
            reason = error.message
        except OSError as error:
            reason = f"a file cannot be read: {error.strerror}"
        if reason is not None:
            self._left.note(f"whether replicas are equal: {reason}", shard_map.name)

    def _compared(self, shard_map: ShardMap, local: Local) -> tuple[Fault | None, int]:
        width = next((_width(header) for _, header in local.values()), 1)

        def read(rank: int, first: int, number: int) -> bytes:
            file, header = local[rank]
            start, _ = self._place(file, header)
            # Opened anew each time: there may be more ranks than files that a process may have open.
            with open(file.path, "rb", opener=regular) as opened:
                opened.seek(start + (header.offset + first) * width)
                return opened.read(number * width)

        return replica_drift(shard_map, read, width)

    def _incomparable(self, shard_map: ShardMap, local: Local) -> str | None:
        """Why the values cannot be compared, None when they can."""
        if not {rank for rank, shard in shard_map.ranks.items() if shard.numel} <= local.keys():
            return "not every rank has a readable file"
        if not stays_inside(shard_map):
            return "the map is wrong"
        runs = run_count(shard_map)
        if runs > self._request.limits.replica_runs:
            return f"{runs} stretches of memory, over the limit of {self._request.limits.replica_runs}"
        for file, header in local.values():
            axes = zip(header.shape, header.strides, row_major(header.shape), strict=True)
            if any(extent > 1 and stride != dense for extent, stride, dense in axes):
                return "a local tensor is not contiguous"
            if header.numel:
                _, size = self._place(file, header)
                if not 0 <= header.offset * _width(header) <= size - header.numel * _width(header):
                    return "a storage is smaller than its tensor"
        return None

    def _place(self, file: RankFile, header: TensorHeader) -> tuple[int, int]:
        key = (file.name, header.storage)
        if key not in self._places:
            # One look at the directory of a file serves all of its tensors.
            wanted = {tensor.local.storage for tensor in file.tensors.cut.values()}
            found = storage_places(file.path, file.origin, wanted, self._request.limits)
            self._places.update({(file.name, storage): place for storage, place in found.items()})
        return self._places[key]


def _width(header: TensorHeader) -> int:
    return ITEM_BYTES.get(header.dtype, _PACKED)
