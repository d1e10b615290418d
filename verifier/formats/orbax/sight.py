"""What an Orbax checkpoint is told by."""

from __future__ import annotations

from verifier.formats.reading.sight import Sight

TREE = "_METADATA"
SHARDING = "_sharding"
OTHERS = ("array_metadatas", "manifest.ocdbt", "_CHECKPOINT_METADATA")


def is_orbax(sight: Sight) -> bool:
    """Whether a folder is one item of an Orbax checkpoint, even when its tree is lost or broken."""
    if not sight.is_folder:
        return False
    return b'"tree_metadata"' in sight.head_of(TREE) or (sight.has(TREE, SHARDING) and sight.has(*OTHERS))
