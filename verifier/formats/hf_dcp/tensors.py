"""Parts of one tensor put together: the boxes that they are, in the full shape that somebody states."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from verifier.formats.hf_dcp.parts import FULL_SHAPE, Part
from verifier.formats.reading.document import BoxSubject
from verifier.formats.reading.gathered import set_fault
from verifier.formats.reading.refusal import shown
from verifier.formats.safetensors.stored_bytes import size_faults
from verifier.model.box_map import COLUMN, BoxMap
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

HOLDER = "part"


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of which every part says where it begins.

    Attributes:
        name: its name.
        parts: its parts, in the order of the files; there is one at least.
        elsewhere: the full shape that somebody else states, None when nobody does.
    """

    name: str
    parts: Sequence[Part]
    elsewhere: tuple[int, ...] | None

    @property
    def is_mixed(self) -> bool:
        """Whether its parts differ in their number of dimensions."""
        return len({len(part.tensor.shape) for part in self.parts}) > 1

    @property
    def stated(self) -> tuple[int, ...] | None:
        """The full shape that its files state, else the one from elsewhere, if it has as many dimensions."""
        own = next((part.full_shape for part in self.parts if part.full_shape is not None), None)
        if own is not None or self.elsewhere is None:
            return own
        return self.elsewhere if len(self.elsewhere) == len(self.parts[0].tensor.shape) else None

    def boxes(self, origin: Origin) -> BoxSubject:
        """The parts as boxes. Without a stated shape that of torch is taken: up to the last end of a part."""
        offsets, sizes = array(COLUMN), array(COLUMN)
        ends = [0] * len(self.parts[0].tensor.shape)
        for part in self.parts:
            places = part.offsets or (0,) * len(ends)
            offsets.extend(places)
            sizes.extend(part.tensor.shape)
            ends = [max(end, o + s) for end, o, s in zip(ends, places, part.tensor.shape, strict=True)]
        boxes = BoxMap(
            name=self.name,
            logical_shape=tuple(ends) if self.stated is None else self.stated,
            offsets=offsets,
            sizes=sizes,
            count=len(self.parts),
            origin=origin,
            holder=HOLDER,
        )
        faults = [
            *size_faults([(part.header, part.tensor) for part in self.parts]),
            *self.differing("type", [part.tensor.dtype for part in self.parts]),
            *self.differing(FULL_SHAPE, [part.full_shape for part in self.parts]),
        ]
        return BoxSubject(boxes=boxes, faults=tuple(faults), expected_shape=self.elsewhere)

    def mixed_fault(self) -> Fault:
        """CK114 for parts of different numbers of dimensions."""
        return self.differing("number of dimensions", [len(part.tensor.shape) for part in self.parts])[0]

    def differing(self, what: str, values: Sequence[object]) -> list[Fault]:
        """CK114 for the first part that has another value than the first one; counts them."""
        others = [k for k, value in enumerate(values) if value != values[0]]
        if not others:
            return []
        return [
            set_fault(
                "CK114",
                f"the {what} of {shown(self.name)}",
                f"is {_words(values[others[0]])}",
                stated=f"in {shown(self.parts[0].file)} it is {_words(values[0])}",
                file=self.parts[others[0]].header.origin.file,
                number=len(others),
            )
        ]


def _words(value: object) -> str:
    if value is None:
        return "not stated"
    return str(list(value)) if isinstance(value, tuple) else str(value)
