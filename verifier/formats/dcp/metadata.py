"""The contents of one metadata file, small or large, by the way that suits its size."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from verifier.formats.dcp.contents import Contents
from verifier.formats.dcp.large import read_in_child
from verifier.formats.dcp.names import DCP
from verifier.formats.dcp.tree import contents_of
from verifier.formats.pickles.tree import read_pickle
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.formats.reading.regular import regular
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.model.origin import Origin


def read_metadata(path: Path, origin: Origin, limits: Limits) -> Contents:
    """What a ``.metadata`` file of torch.distributed.checkpoint says. Nothing in it is imported or called.

    Raises:
        FormatError: SM001 to SM007.
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    # Without limits for processes, as on Windows, only the inert machine is safe.
    if size <= limits.metadata_inert_bytes or importlib.util.find_spec("resource") is None:
        data = bounded_bytes(path, limits.pickle_bytes, "metadata", origin)
        return contents_of(read_pickle(data, DCP, origin, limits), origin, limits)
    if size > limits.metadata_bytes:
        raise FormatError(
            "SM006",
            f"{size} bytes of metadata, over the limit of {limits.metadata_bytes}",
            origin,
            help="pass larger Limits if you trust its source",
        )
    with open(path, "rb", opener=regular) as file:
        return read_in_child(file, size, origin, limits)
