"""Which files of a folder are read, and what their names say. Imports little: formats are told by it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from verifier.formats.reading.marks import MOST_HEADER
from verifier.formats.reading.sight import Sight

SUFFIX = ".safetensors"
SHARDING_INFO = "DCP_SHARDING_INFO"
"""The metadata by which torch says that a file holds blocks of tensors."""
MAP = "map.json"
"""A shard map that lies beside the tensors it describes."""

_INDEX = re.compile(r".+\.safetensors\.index(\.[\w-]+)?\.json", re.ASCII)
_NUMBERED = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.safetensors", re.ASCII)
_RANK_FILE = re.compile(r"rank(\d{1,9})\.safetensors", re.ASCII)
_OTHER_WEIGHTS = (
    *("pytorch_model*.bin", "*.bin.index.json", "tf_model*.h5", "flax_model*.msgpack"),
    *("consolidated*.pth", "*.gguf", "*.ckpt"),
)


def is_safetensors(sight: Sight) -> bool:
    """Whether a path is a safetensors file, an index of some, or a folder with either."""
    if sight.is_folder:
        return any(name.endswith(SUFFIX) or is_index_name(name) for name in sight.names)
    if is_index_name(sight.path.name):
        return True
    length = int.from_bytes(sight.head[:8], "little")
    return sight.path.suffix == SUFFIX or (sight.head[8:9] == b"{" and length < MOST_HEADER)


def is_map_with_tensors(sight: Sight) -> bool:
    """Whether a folder has a shard map and files of ranks."""
    return sight.has(MAP) and any(rank_of(name) is not None for name in sight.names)


def rank_of(name: str) -> int | None:
    """The rank that a file of its tensors is named after; None for another name."""
    match = _RANK_FILE.fullmatch(name)
    return None if match is None else int(match[1])


def is_index_name(name: str) -> bool:
    """Whether a file of this name is an index of safetensors files."""
    return _INDEX.fullmatch(name) is not None


def missing_numbers(names: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """(first absent name, how many are absent, how many there should be) of sets of numbered files."""
    sets: dict[tuple[str, str], set[int]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is not None:
            sets.setdefault((match[1], match[3]), set()).add(int(match[2]))
    for (stem, total), numbers in sets.items():
        first = 0 if 0 in numbers else 1  # a few writers count from 0
        absent = [number for number in range(first, first + int(total)) if number not in numbers]
        if absent:
            yield f"{stem}-{absent[0]:05}-of-{total}{SUFFIX}", len(absent), int(total)


def set_name(name: str) -> str:
    """The file set that a file belongs to: its own name, or what numbered files have in common."""
    match = _NUMBERED.fullmatch(name)
    return name if match is None else f"{match[1]}-of-{match[3]}"


def numbered_stem(name: str) -> str | None:
    """What a numbered file is called before its number; None for a file that is not numbered."""
    match = _NUMBERED.fullmatch(name)
    return None if match is None else match[1]


def index_stem(name: str) -> str:
    """What the files of an index are called, by its own name."""
    return name.partition(f"{SUFFIX}.index")[0]


def is_variant(name: str) -> bool:
    """Whether a file is another variant of the model by its name, such as ``model.fp16.safetensors``."""
    return "." in name.removesuffix(SUFFIX)


def is_other_weights(name: str) -> bool:
    """Whether a file holds weights in another form, by its name."""
    return any(fnmatchcase(name, pattern) for pattern in _OTHER_WEIGHTS)
