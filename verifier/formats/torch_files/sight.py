"""How files of torch.save are told that stand for themselves: by the rank in their name, or a first key."""

from __future__ import annotations

import re

from verifier.formats.reading.marks import ZIP_MAGIC
from verifier.formats.reading.sight import Sight

RANK_FILE = re.compile(r"(?P<stem>.*?)rank[_-]?(?P<rank>\d{1,7})\.(?:pt|pth|bin)", re.ASCII)
LOOKED_AT = 4

SHARDED = b"torch.distributed._shard.sharded_tensor"
"""The module of ShardedTensor, which FSDP1 saves."""

FIRST_KEY = b"\x80\x02}q\x00(X\x05\x00\x00\x00stateq"
"""How a pickled dict begins whose first key is "state", as ``Optimizer.state_dict()`` makes it."""


def is_rank_files(sight: Sight) -> bool:
    """Whether a folder has files of torch.save that are named after a rank."""
    named = [name for name in sight.names if RANK_FILE.fullmatch(name)]
    return any(sight.head_of(name).startswith(ZIP_MAGIC) for name in named[:LOOKED_AT])


def is_optimizer_file(sight: Sight) -> bool:
    """Whether a file begins with a pickled dict whose first key is "state"."""
    return sight.head.startswith(ZIP_MAGIC) and FIRST_KEY in sight.head


def is_fsdp1(sight: Sight) -> bool:
    """Whether files of torch.save begin with a ShardedTensor: one file, or those named after a rank."""
    if not sight.is_folder:
        return sight.head.startswith(ZIP_MAGIC) and SHARDED in sight.head
    named = [name for name in sight.names if RANK_FILE.fullmatch(name)]
    return any(SHARDED in sight.head_of(name) for name in named[:LOOKED_AT])
