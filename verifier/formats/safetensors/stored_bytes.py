"""What one safetensors file holds: the map of its bytes, and each tensor as one block.

The byte map is one-dimensional; that every byte of the file belongs to one tensor is then a question for the
prover. Here the file's length is held against the last byte of a tensor, and byte counts against shapes.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from verifier.formats.reading.document import BoxSubject
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.safetensors.header import BITS, Header, StoredTensor
from verifier.model.box_map import COLUMN, BoxMap
from verifier.obligations.faults import Fault

BYTES_HOLDER = "tensor"
BLOCK = "block"

VALUES = "values: no tensor data is read"
EXCHANGED = "whether names, types of one width or tensors of one size were exchanged: no file tells"
NEVER = (VALUES, EXCHANGED)


def gather_file(header: Header, gathered: Gathered) -> None:
    """Add what is known of one file by itself: its byte map, and what was refused in it."""
    gathered.refusals += header.refusals
    if header.unplaced:
        lost = shown(header.unplaced[0])
        gathered.unchecked.append(f"which bytes of {header.origin.file} are used: {lost} has no range")
        return
    gathered.boxes.append(byte_map(header))


def byte_map(header: Header) -> BoxSubject:
    """The byte ranges of a file over its data, up to the last byte of a tensor."""
    ranges = sorted(header.ranges, key=lambda each: (each.begin, each.end))
    end = max((each.end for each in ranges), default=0)
    boxes = BoxMap(
        name=f"bytes of {header.origin.file}",
        logical_shape=(end,),
        offsets=array(COLUMN, [each.begin for each in ranges]),
        sizes=array(COLUMN, [each.end - each.begin for each in ranges]),
        count=len(ranges),
        origin=header.origin,
        holder=BYTES_HOLDER,
        called=tuple([shown(each.name) for each in ranges]),
    )
    return BoxSubject(boxes=boxes, faults=(*_length_faults(header, end), *_loose(header)), is_parameter=False)


def tensor_block(
    header: Header, tensor: StoredTensor, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> BoxSubject:
    """A tensor that is stored as a whole; ``shapes`` are the full shapes that somebody else states."""
    boxes = BoxMap(
        name=tensor.name,
        logical_shape=tensor.shape,
        offsets=array(COLUMN, [0] * len(tensor.shape)),
        sizes=array(COLUMN, tensor.shape),
        count=1,
        origin=header.tensor_origin(tensor),
        holder=BLOCK,
    )
    expected = None if shapes is None else shapes.get(tensor.name)
    return BoxSubject(boxes=boxes, faults=tuple(size_faults([(header, tensor)])), expected_shape=expected)


def size_faults(parts: Iterable[tuple[Header, StoredTensor]]) -> list[Fault]:
    """CK113 for the first tensor with more or fewer bytes than its shape and type need; counts all."""
    wrong = [(header, tensor) for header, tensor in parts if not has_right_size(tensor)]
    if not wrong:
        return []
    header, tensor = wrong[0]
    bits = math.prod(tensor.shape) * BITS[tensor.dtype]
    need = f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits, no whole number of bytes"
    return [
        set_fault(
            "CK113",
            f"{shown(tensor.name)} of type {tensor.dtype} and shape {list(tensor.shape)}",
            f"has {tensor.end - tensor.begin} bytes",
            stated=f"and needs {need}",
            file=header.origin.file,
            number=len(wrong),
        )
    ]


def has_right_size(tensor: StoredTensor) -> bool:
    """Whether a tensor has as many bytes as its shape and type need."""
    return (tensor.end - tensor.begin) * 8 == math.prod(tensor.shape) * BITS[tensor.dtype]


def _length_faults(header: Header, end: int) -> list[Fault]:
    """CK102 for a file that ends before its last tensor does, CK107 for one that goes on."""
    file, found = header.origin.file, header.data_bytes
    if found < end:
        cut = [each for each in header.ranges if each.end > found]
        first = min(cut, key=lambda each: (each.begin, each.end))
        return [
            set_fault(
                "CK102",
                f"the bytes of {shown(first.name)}",
                f"end at byte {first.end} behind the header",
                stated=f"the file at byte {found}",
                file=file,
                number=len(cut),
            )
        ]
    if found > end:
        return [
            set_fault(
                "CK107",
                f"{found - end} bytes at the end of the file",
                "belong to no tensor",
                stated=f"the last one ends at byte {end} of {found} behind the header",
                file=file,
            )
        ]
    return []


def _loose(header: Header) -> list[Fault]:
    """CK104 for an empty tensor inside the bytes of another one: harmless, but no library opens the file."""
    taken = sorted((each for each in header.ranges if each.begin < each.end), key=lambda each: each.begin)
    starts = [each.begin for each in taken]
    loose = []
    for each in header.ranges:
        before = bisect_left(starts, each.begin) - 1
        if each.begin == each.end and before >= 0 and taken[before].end > each.begin:
            loose.append((each, taken[before]))
    if not loose:
        return []
    empty, around = loose[0]
    return [
        set_fault(
            "CK104",
            f"{shown(empty.name)}, which is empty,",
            f"stands at byte {empty.begin} behind the header",
            stated=f"inside the bytes of {shown(around.name)}",
            file=header.origin.file,
            reason="the safetensors library refuses the file",
            number=len(loose),
        )
    ]
