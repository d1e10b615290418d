"""Documents whose objects are pickled: torch archives, and pickles by themselves."""

from __future__ import annotations

from pathlib import Path

from verifier.formats.deepspeed.model_states import is_model_states, model_states
from verifier.formats.deepspeed.reader import document_of
from verifier.formats.deepspeed.zero import shard_document
from verifier.formats.deepspeed.zero_shards import ZERO, is_zero_shard, zero_shard
from verifier.formats.maps.map_json import read_plain
from verifier.formats.pickles.records import PLAIN
from verifier.formats.pickles.torch_zip import TORCH, read_torch_zip
from verifier.formats.pickles.tree import read_pickle
from verifier.formats.reading.document import Document
from verifier.formats.reading.request import Request
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.formats.torch_files.dtensor import rank_files_document
from verifier.formats.torch_files.dtensor_records import DTENSOR, holds_dtensors
from verifier.formats.torch_files.optimizer_state import is_optimizer_state, optimizer_document
from verifier.formats.torch_files.rank_files import rank_file
from verifier.model.origin import Origin


def read_pickle_file(path: Path, origin: Origin, request: Request) -> Document:
    """A pickle of plain values that have one of the forms of a JSON document."""
    limits = request.limits
    data = bounded_bytes(path, limits.pickle_bytes, "pickle", origin)
    return read_plain(read_pickle(data, PLAIN, origin, limits), path.stem, origin, limits)


def read_archive_file(path: Path, origin: Origin, request: Request) -> Document:
    """What ``torch.save`` wrote, told by its keys: one of the known files of one rank, or plain values."""
    limits = request.limits
    value = read_torch_zip(path, origin, limits, TORCH | DTENSOR | ZERO)
    if is_model_states(value):
        states = model_states(value, path.name, origin)
        return document_of([states], file=origin.file, whole_set=False, limits=limits)
    if is_zero_shard(value):
        return shard_document(zero_shard(value, path.name, origin), origin)
    if is_optimizer_state(value):
        return optimizer_document(value, path, origin, request)
    if holds_dtensors(value):
        return rank_files_document(
            [rank_file(value, path, origin, limits)], origin=origin, request=request, whole_set=False
        )
    return read_plain(value, path.stem, origin, limits)
