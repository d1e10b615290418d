"""From a directory to the model states and optimizer shards in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from verifier.formats.deepspeed.missing_files import missing_layers
from verifier.formats.deepspeed.model_states import partition_ranks, rank_in_name, read_model_states
from verifier.formats.deepspeed.reader import document_of
from verifier.formats.deepspeed.sight import LATEST, LATEST_BYTES, STATES, tag_folders
from verifier.formats.deepspeed.universal import universal_part
from verifier.formats.deepspeed.zero import zero_part
from verifier.formats.deepspeed.zero_shards import ranks_in_name, read_zero_shard
from verifier.formats.reading.document import Document, Refusal
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown, some
from verifier.formats.reading.regular import regular
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.model.origin import Origin

OPTIMIZER_SUFFIX = "_optim_states.pt"


def read_folder(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a checkpoint folder; see ``read_directory``."""
    return read_directory(path, origin, request.limits)


def read_directory(path: Path, origin: Origin, limits: Limits) -> Document:
    """The document of a checkpoint: a directory of model-states files, or one with a tag folder of them.

    Raises:
        FormatError: SM001 when there is no checkpoint, or more than one; SM006 for too many files.
        OSError: the directory cannot be listed.
    """
    folder = _folder(path, origin)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(STATES))
    if len(names) > limits.files:
        raise FormatError(
            "SM006",
            f"{len(names)} state files, over the limit of {limits.files}",
            origin,
            help="name the files to check one by one",
        )
    prefix = origin.file.rstrip("/")
    if folder != path:
        prefix = f"{prefix}/{folder.name}"
    reading = _Reading(folder, prefix, limits)
    ranked = {rank: name for name in names if (rank := rank_in_name(name)) is not None}
    files = list(reading.all([name for _, name in sorted(ranked.items())], read_model_states))
    partitions = {ranks: name for name in names if (ranks := partition_ranks(name)) is not None}
    parts = list(reading.all([name for _, name in sorted(partitions.items())], read_model_states))
    shards = list(reading.all([name for name in names if ranks_in_name(name)], read_zero_shard))
    document = document_of(
        files,
        file=origin.file,
        whole_set=True,
        only_ranked=not _other_states(names),
        refusals=reading.refusals,
        unchecked=_unread(names),
        names=names,
        limits=limits,
    )
    zero = zero_part(
        shards,
        [*files, *parts],
        reading.refusals,
        mapped=frozenset(subject.name for subject in document.subjects),
    )
    shapes = {subject.name: subject.shard_map.logical_shape for subject in document.subjects}
    universal = universal_part(folder, prefix, shapes, limits)
    return replace(
        document,
        subjects=(*document.subjects, *zero.subjects),
        refusals=(*document.refusals, *universal.refusals),
        faults=(
            *document.faults,
            *missing_layers(files, names),
            *zero.faults,
            *universal.faults,
        ),
        remarks=(*document.remarks, *zero.remarks),
        checks={**document.checks, **zero.checks, **universal.checks},
        unchecked=(*document.unchecked, *zero.unchecked, *universal.unchecked),
    )


Read = TypeVar("Read")


class _Reading:
    """Reads files of a folder, one after another; one that is refused hides no other."""

    __slots__ = ("folder", "limits", "prefix", "refusals")

    def __init__(self, folder: Path, prefix: str, limits: Limits) -> None:
        self.folder = folder
        self.prefix = prefix
        self.limits = limits
        self.refusals: list[Refusal] = []

    def all(self, names: Sequence[str], read: Callable[[Path, Origin, Limits], Read]) -> Iterator[Read]:
        """What ``read`` makes of the files that it can read, in the order given."""
        for name in names:
            try:
                yield read(self.folder / name, Origin(f"{self.prefix}/{name}"), self.limits)
            except FormatError as error:
                self.refusals.append(Refusal.of(name, error))
            except OSError as error:
                self.refusals.append(_unopened(name, f"{self.prefix}/{name}", error))


def _folder(path: Path, origin: Origin) -> Path:
    """The directory itself, the folder that ``latest`` names, or the only folder with state files."""
    if _has_states(path):
        return path
    latest = path / LATEST
    if latest.is_file():
        with open(latest, "rb", opener=regular) as file:
            tag = file.read(LATEST_BYTES).decode("utf-8", "replace").strip()
        # The tag comes from a file: it must stay inside the directory.
        if tag and tag not in (".", "..") and Path(tag).name == tag and _has_states(path / tag):
            return path / tag
        raise FormatError(
            "SM001",
            f"latest names the folder {shown(tag)}, in which there are no state files",
            origin,
            help="name the folder of the checkpoint that is meant",
        )
    folders = [path / name for name in tag_folders(Sight(path))]
    if len(folders) == 1:
        return folders[0]
    found = some([folder.name for folder in folders])
    raise FormatError(
        "SM001",
        f"several checkpoints are in this directory: {found}" if folders else "no map is in this directory",
        origin,
        help="name one of them"
        if folders
        else "name a map, or a directory of mp_rank_NN_model_states.pt files",
    )


def _has_states(folder: Path) -> bool:
    return folder.is_dir() and any(entry.name.endswith(STATES) for entry in folder.iterdir())


def _unopened(name: str, file: str, error: OSError) -> Refusal:
    return Refusal(
        name=name,
        origin=Origin(file),
        code="SM001",
        message=f"cannot be opened: {error.strerror}",
        help="check the path and its permissions",
    )


def _other_states(names: Sequence[str]) -> list[str]:
    """State files that are neither optimizer shards nor named after one rank."""
    return [
        name
        for name in names
        if not name.endswith(OPTIMIZER_SUFFIX)
        and rank_in_name(name) is None
        and partition_ranks(name) is None
    ]


def _unread(names: Sequence[str]) -> list[str]:
    """What lies beside the model states and optimizer shards and is not read."""
    notes: list[str] = []
    optimizer = [name for name in names if name.endswith(OPTIMIZER_SUFFIX) and ranks_in_name(name) is None]
    if optimizer:
        notes.append(f"other optimizer files: {len(optimizer)} such as {shown(optimizer[0])}")
    other = _other_states(names)
    if other:
        notes.append(f"other state files: {len(other)} such as {shown(other[0])}")
    return notes
