"""What a file is on the outside, by its first bytes, and the words by which files with maps are found.

A folder is full of JSON and of pickles that are none of ours. Of a file that nobody named, only the beginning
is looked at: one of our words has to be there.
"""

from __future__ import annotations

import re

from verifier.formats.reading.sight import Sight

ZIP = "a zip archive, as torch.save writes"
JSON = "JSON text"
PICKLE = "a pickle"
SAFETENSORS = "a safetensors file"

ZIP_MAGIC = b"PK\x03\x04"
PICKLE_PROTOCOL = b"\x80"
PICKLE_STOP = b"."
JSON_STARTS = b'{["-0123456789tfn'
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
MOST_HEADER = 1 << 40
"""A length beyond it is text or noise, no header length of a safetensors file."""

BEGINNING = 1 << 18
"""Bytes of an archive in which its words are looked for: about the pickle of a thousand tensors."""
MAPS = (b"logical_shape", b"shard_shape", b"affine_map", b"universal_checkpoint_info")
DTENSORS = (b"torch.distributed.tensor", b"torch.distributed._tensor")
_OLD_PICKLES = (b"(d", b"(l")
_GROUPS_FIRST = re.compile(rb"\x80\x02}q\x00\(X\x0c\x00\x00\x00param_groupsq")
"""How the state dict of an optimizer begins whose groups come first."""


def container(sight: Sight) -> str | None:
    """What a file is on the outside; None for a folder, and for what could be anything."""
    head = sight.head
    if head.startswith(ZIP_MAGIC):
        return ZIP
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < MOST_HEADER:
        return SAFETENSORS
    if head.removeprefix(BYTE_ORDER_MARKS[0]).lstrip()[:1] in (b"{", b"["):
        return JSON
    return PICKLE if head.startswith(PICKLE_PROTOCOL) else None


def is_zip(sight: Sight) -> bool:
    """Whether it is a zip archive."""
    return sight.head.startswith(ZIP_MAGIC)


def is_json(sight: Sight) -> bool:
    """Whether it may be JSON of any kind."""
    return sight.head.startswith(BYTE_ORDER_MARKS) or sight.head.lstrip()[:1] in [
        bytes([start]) for start in JSON_STARTS
    ]


def is_pickle(sight: Sight) -> bool:
    """Whether it may be a pickle: old protocols have no mark of their own, but each ends with its STOP."""
    return sight.head.startswith(PICKLE_PROTOCOL) or sight.last_byte == PICKLE_STOP


def json_with_maps(sight: Sight) -> bool:
    """Whether it is a JSON object that begins with words of a map."""
    return container(sight) == JSON and _has(sight.head, *MAPS)


def pickle_with_maps(sight: Sight) -> bool:
    """Whether it is a pickle that begins with words of a map."""
    old = sight.head.startswith(_OLD_PICKLES) and sight.last_byte == PICKLE_STOP
    return (old or container(sight) == PICKLE) and _has(sight.head, *MAPS)


def zip_with_maps(sight: Sight) -> bool:
    """Whether it is an archive with words of maps, with DTensors, or with the state of an optimizer."""
    if not is_zip(sight):
        return False
    return bool(_GROUPS_FIRST.search(sight.head)) or _has(sight.beginning(BEGINNING), *MAPS, *DTENSORS)


def _has(text: bytes, *words: bytes) -> bool:
    return any(word in text for word in words)
