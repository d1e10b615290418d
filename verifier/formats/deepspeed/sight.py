"""How a DeepSpeed checkpoint is told from other folders, by names, and what in a folder is part of it."""

from __future__ import annotations

from collections.abc import Iterable

from verifier.formats.reading.sight import Sight

LATEST = "latest"
LATEST_BYTES = 4096
STATES_SUFFIX = "_states.pt"
UNIVERSAL = "zero"


def is_deepspeed_folder(sight: Sight) -> bool:
    """A folder with state files, with a file that names such a folder, or with such a folder."""
    if not sight.is_folder:
        return False
    return sight.has_suffix(STATES_SUFFIX) or sight.has(LATEST) or bool(tag_folders(sight))


def tag_folders(sight: Sight) -> list[str]:
    """The folders inside that have state files."""
    return [
        name for name in sight.names if any(inside.endswith(STATES_SUFFIX) for inside in sight.inside(name))
    ]


def deepspeed_claims(sight: Sight) -> Iterable[str]:
    """The state files of a checkpoint, or the tag folder that it is in.

    Several tags of which none is the latest are a checkpoint each.
    """
    states = [name for name in sight.names if name.endswith(STATES_SUFFIX)]
    if states:
        return [*states, *(name for name in (LATEST, UNIVERSAL) if name in sight.names)]
    tags = tag_folders(sight)
    if LATEST in sight.names:
        named = sight.head_of(LATEST)[:LATEST_BYTES].decode("utf-8", "replace").strip()
        return [LATEST, *(tag for tag in tags if tag == named)]
    return tags if len(tags) == 1 else ()
