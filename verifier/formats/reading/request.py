"""What is asked of a reader beyond the maps in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from verifier.formats.reading.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How a path is to be read.

    Attributes:
        limits: how much it may cost.
        payload: also read the headers of stored tensors and hold them against the metadata; still no values.
        values: also compare the bits of stored replicas, where a format keeps them; this reads tensor data.
        shapes: full shape of each parameter, for formats that do not store it; None when nobody said.
        input_format: name of the format the path must have, None to tell by content.
    """

    limits: Limits = field(default_factory=Limits)
    payload: bool = False
    values: bool = False
    shapes: Mapping[str, tuple[int, ...]] | None = None
    input_format: str | None = None
