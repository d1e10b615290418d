"""How torch's Hugging Face storage names its files, and how a folder of them is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from verifier.formats.reading.sight import Sight
from verifier.formats.safetensors.files import SHARDING_INFO, SUFFIX, is_index_name

SHARDED = "sharded"
"""The folder of the shards, where consolidated files lie above it."""

_SHARD = re.compile(r"shard-(\d{5,10})-model-(\d{5,10})-of-(\d{5,10})\.safetensors", re.ASCII)


@dataclass(frozen=True, slots=True)
class ShardName:
    """What a file name says: the writer, and which of so many model files this is a shard of; all from 1."""

    shard: int
    model: int
    models: int


def shard_name(name: str) -> ShardName | None:
    """The numbers in a file name; None for another name."""
    match = _SHARD.fullmatch(name)
    return None if match is None else ShardName(int(match[1]), int(match[2]), int(match[3]))


def is_hf_dcp(sight: Sight) -> bool:
    """Whether a folder, or the folder ``sharded`` in it, holds shards: by name, or by what a header says."""
    if not sight.is_folder:
        return False
    if has_shards(sight.names) or has_shards_below(sight):
        return True
    files = [name for name in sight.names if name.endswith(SUFFIX)]
    # With an index the tensors are whole: one process wrote them.
    indexed = any(is_index_name(name) for name in sight.names)
    return not indexed and bool(files) and SHARDING_INFO.encode() in sight.head_of(files[0])


def has_shards_below(sight: Sight) -> bool:
    """Whether the shards are in the folder ``sharded`` of this one; a link is not followed."""
    below = sight.path / SHARDED
    return SHARDED in sight.names and not below.is_symlink() and has_shards(sight.inside(SHARDED))


def has_shards(names: Iterable[str]) -> bool:
    """Whether one of these files is a shard by its name."""
    return any(shard_name(name) is not None for name in names)
