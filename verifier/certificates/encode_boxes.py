"""The certificate of a parameter stored as boxes: its boxes, for a checker that does everything again.

Layout (``shardproof.boxes/1``): ``name``, ``shape``, ``count`` and the flat columns ``offsets`` and
``sizes``, box after box. There is no evidence besides: the corners of the boxes cancel or they do not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from verifier.model.box_map import BoxMap

SCHEMA = "shardproof.boxes/1"


@dataclass(frozen=True, slots=True)
class BoxCertificate:
    """A claim that boxes tile their parameter; ``check_boxes`` decides it again. Theory: T23."""

    boxes: BoxMap

    def to_json(self) -> dict[str, Any]:
        """The certificate as a JSON value."""
        boxes = self.boxes
        return {
            "schema": SCHEMA,
            "name": boxes.name,
            "shape": list(boxes.logical_shape),
            "count": boxes.count,
            "offsets": boxes.offsets.tolist(),
            "sizes": boxes.sizes.tolist(),
        }

    def to_text(self) -> str:
        """The certificate as one line of canonical JSON."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
