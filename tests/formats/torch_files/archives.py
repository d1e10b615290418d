"""Files of torch.save taken apart: the pickle in them damaged, the checksums of the archive right again."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from tests.formats.documents import archive
from tests.formats.mutating import mutants

PICKLE = "/data.pkl"


def with_pickle(data: bytes, pickle: bytes) -> bytes:
    """The archive with another pickle; storages and everything else as before."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        members = [(name, opened.read(name)) for name in opened.namelist()]
    return archive([(name, pickle if name.endswith(PICKLE) else raw) for name, raw in members])


def pickle_in(data: bytes) -> bytes:
    """The pickle of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(PICKLE)]
        return opened.read(name)


def pickle_mutants(data: bytes, *, seed: int, count: int) -> Iterator[bytes]:
    """Archives of which only the pickle is damaged, so that no checksum keeps the damage from its reader."""
    for mutant in mutants(pickle_in(data), seed=seed, count=count):
        yield with_pickle(data, mutant)
