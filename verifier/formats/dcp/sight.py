"""How a torch distributed checkpoint is told from other folders and pickles, by names and first bytes."""

from __future__ import annotations

import re

from verifier.formats.reading.sight import Sight

METADATA_FILE = ".metadata"
MEGATRON_FILE = "metadata.json"
_MODULE = b"torch.distributed.checkpoint.metadata"
_BACKEND = b'"sharded_backend"'
_OF_RANK = re.compile(r"__(0|[1-9]\d{0,8})\.metadata", re.ASCII)
_DATA = re.compile(r"__(0|[1-9]\d{0,8})_\d{1,9}\.distcp", re.ASCII)


def is_dcp(sight: Sight) -> bool:
    """A folder with metadata, of all ranks or of each, or with data files; or a metadata file."""
    if sight.is_folder:
        return any(name == METADATA_FILE or _is_part(name) for name in sight.names)
    return _MODULE in sight.head


def is_megatron(sight: Sight) -> bool:
    """A folder whose ``metadata.json`` names a backend of Megatron-core."""
    return sight.is_folder and sight.has(MEGATRON_FILE) and _BACKEND in sight.head_of(MEGATRON_FILE)


def rank_of_metadata(name: str) -> int | None:
    """The rank that a metadata file is named after; None for another name."""
    match = _OF_RANK.fullmatch(name)
    return None if match is None else int(match[1])


def rank_of_data(name: str) -> int | None:
    """The rank that a data file is named after; None for another name."""
    match = _DATA.fullmatch(name)
    return None if match is None else int(match[1])


def _is_part(name: str) -> bool:
    return rank_of_metadata(name) is not None or rank_of_data(name) is not None
