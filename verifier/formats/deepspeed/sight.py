"""How a DeepSpeed checkpoint is told from other folders, by names, and what in a folder is part of it."""

from __future__ import annotations

from collections.abc import Iterable

from verifier.formats.reading.sight import Sight

LATEST = "latest"
LATEST_BYTES = 4096
STATES = ("_model_states.pt", "-model_states.pt", "_optim_states.pt")
"""How the names of state files end; other programs write files such as rng_states.pt."""
UNIVERSAL = "zero"


def is_deepspeed_folder(sight: Sight) -> bool:
    """A folder with state files, or with a folder of them.

    Nothing is told by ``latest``: many trainers call a file, a link or a folder so.
    """
    return sight.is_folder and (sight.has_suffix(*STATES) or bool(tag_folders(sight)))


def tag_folders(sight: Sight) -> list[str]:
    """The folders inside that have state files; a link to one is no second checkpoint."""
    return [
        name
        for name in sight.names
        if any(inside.endswith(STATES) for inside in sight.inside(name))
        and not (sight.path / name).is_symlink()
    ]


def deepspeed_claims(sight: Sight) -> Iterable[str]:
    """The state files of a checkpoint, or the tag folder that it is in.

    Several tags of which none is the latest are a checkpoint each.
    """
    states = [name for name in sight.names if name.endswith(STATES)]
    if states:
        return [*states, *(name for name in (LATEST, UNIVERSAL) if name in sight.names)]
    tags = tag_folders(sight)
    if LATEST in sight.names and (sight.path / LATEST).is_file():
        named = sight.head_of(LATEST)[:LATEST_BYTES].decode("utf-8", "replace").strip()
        return [LATEST, *(tag for tag in tags if tag == named)]
    return tags if len(tags) == 1 else ()
