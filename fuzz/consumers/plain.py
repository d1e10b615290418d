"""The form that DeepSpeed's ``to_dict`` gives a map: what software outside of this project is asked in."""

from __future__ import annotations

from typing import Any

from verifier.certificates.encode import map_to_json
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap


def plain(shard_map: ShardMap) -> dict[str, Any]:
    """The map as other software gets it, a new one at every call."""
    document = map_to_json(shard_map)
    for rank, at, piece in shard_map.pieces():
        if piece.scale != ONE:
            document["ranks"][str(rank)]["pieces"][at]["scale"] = float(piece.scale)
    document["ranks"] = {int(rank): shard for rank, shard in document["ranks"].items()}
    return document
