"""The form that DeepSpeed's ``to_dict`` gives a map: what software outside of this project is asked in."""

from __future__ import annotations

from typing import Any

from fuzz.documents.forms import map_document
from verifier.model.shard_map import ShardMap


def plain(shard_map: ShardMap) -> dict[str, Any]:
    """The map as other software gets it, a new one at every call."""
    document = map_document(shard_map)
    document["ranks"] = {int(rank): shard for rank, shard in document["ranks"].items()}
    return document
