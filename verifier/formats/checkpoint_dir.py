"""From a directory to the model-states files in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verifier.formats.deepspeed import document_of
from verifier.formats.document import Document, Refusal
from verifier.formats.limits import Limits
from verifier.formats.model_states import ModelStates, rank_in_name, read_model_states
from verifier.formats.refusal import FormatError, shown
from verifier.formats.request import Request
from verifier.model.origin import Origin

LATEST = "latest"
LATEST_BYTES = 4096
STATES_SUFFIX = "_states.pt"
OPTIMIZER_SUFFIX = "_optim_states.pt"
NAMES_SHOWN = 4


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
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(STATES_SUFFIX))
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
    ranked = {rank: name for name in names if (rank := rank_in_name(name)) is not None}
    files: list[ModelStates] = []
    refusals: list[Refusal] = []
    for _, name in sorted(ranked.items()):
        try:
            files.append(read_model_states(folder / name, Origin(f"{prefix}/{name}"), limits))
        except FormatError as error:
            refusals.append(Refusal.of(name, error))
        except OSError as error:
            refusals.append(_unopened(name, f"{prefix}/{name}", error))
    return document_of(
        files,
        file=origin.file,
        whole_set=True,
        only_ranked=not _other_states(names),
        refusals=refusals,
        unchecked=_unread(names),
        limits=limits,
    )


def _folder(path: Path, origin: Origin) -> Path:
    """The directory itself, the folder that ``latest`` names, or the only folder with state files."""
    if _has_states(path):
        return path
    latest = path / LATEST
    if latest.is_file():
        with latest.open("rb") as file:
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
    folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and _has_states(entry))
    if len(folders) == 1:
        return folders[0]
    found = ", ".join(shown(folder.name) for folder in folders[:NAMES_SHOWN])
    raise FormatError(
        "SM001",
        f"several checkpoints are in this directory: {found}" if folders else "no map is in this directory",
        origin,
        help="name one of them"
        if folders
        else "name a map, or a directory of mp_rank_NN_model_states.pt files",
    )


def _has_states(folder: Path) -> bool:
    return folder.is_dir() and any(entry.name.endswith(STATES_SUFFIX) for entry in folder.iterdir())


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
    return [name for name in names if not name.endswith(OPTIMIZER_SUFFIX) and rank_in_name(name) is None]


def _unread(names: Sequence[str]) -> list[str]:
    """What lies beside the model states and is not read."""
    notes: list[str] = []
    optimizer = [name for name in names if name.endswith(OPTIMIZER_SUFFIX)]
    if optimizer:
        notes.append(f"optimizer shards: {len(optimizer)} files such as {shown(optimizer[0])}")
    other = _other_states(names)
    if other:
        notes.append(f"other state files: {len(other)} such as {shown(other[0])}")
    return notes
