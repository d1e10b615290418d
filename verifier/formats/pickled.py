"""Documents whose objects are pickled: torch archives, and pickles by themselves."""

from __future__ import annotations

from pathlib import Path

from verifier.formats.deepspeed import document_of
from verifier.formats.document import Document
from verifier.formats.map_json import read_plain
from verifier.formats.model_states import model_states
from verifier.formats.pickle_records import PLAIN
from verifier.formats.pickle_tree import read_pickle
from verifier.formats.request import Request
from verifier.formats.torch_zip import read_torch_zip
from verifier.formats.whole_file import bounded_bytes
from verifier.model.origin import Origin


def read_pickle_file(path: Path, origin: Origin, request: Request) -> Document:
    """A pickle of plain values that have one of the forms of a JSON document."""
    limits = request.limits
    data = bounded_bytes(path, limits.pickle_bytes, "pickle", origin)
    return read_plain(read_pickle(data, PLAIN, origin, limits), path.stem, origin, limits)


def read_archive_file(path: Path, origin: Origin, request: Request) -> Document:
    """What ``torch.save`` wrote: the model states of one rank, or plain values."""
    limits = request.limits
    value = read_torch_zip(path, origin, limits)
    if isinstance(value, dict) and not ("universal_checkpoint_info" in value or "module" in value):
        return read_plain(value, path.stem, origin, limits)
    states = model_states(value, path.name, origin)
    return document_of([states], file=origin.file, whole_set=False, limits=limits)
