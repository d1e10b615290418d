"""``model.safetensors.index.json``: which file holds which tensor, held against the files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import malformed, name_text
from verifier.formats.reading.json_text import over_limit, parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.formats.safetensors.header import tensor_name
from verifier.model.origin import Origin

WEIGHT_MAP = "weight_map"
TOTAL_SIZE = "total_size"
_DIGITS = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What an index says.

    Attributes:
        origin: the index file.
        files: the file of each tensor, its path without steps that lead nowhere (``./a``).
        total_size: bytes of all tensors; None when it is not stated.
        refusals: entries that could not be read.
    """

    origin: Origin
    files: Mapping[str, str]
    total_size: int | None
    refusals: tuple[Refusal, ...]


def read_index(path: Path, origin: Origin, limits: Limits) -> Index:
    """An index file.

    Raises:
        FormatError: SM001 to SM006 when no part of it can be read.
        OSError: the file cannot be read.
    """
    parsed = parse(bounded_bytes(path, limits.json_bytes, "JSON", origin), origin, limits)
    if parsed.flaws:
        raise parsed.flaws[0]
    value = parsed.value
    if not isinstance(value, dict) or not isinstance(value.get(WEIGHT_MAP), dict):
        raise malformed(f"there is no {WEIGHT_MAP} in this index", origin, "write an object of file names")
    refusals: list[Refusal] = []
    files: dict[str, str] = {}
    place = origin.child(WEIGHT_MAP)
    for tensor, file in value[WEIGHT_MAP].items():
        try:
            name = tensor_name(tensor, place, limits)
            files[name] = _plain(name_text(file, below(place, tensor), limits))
        except FormatError as error:
            refusals.append(Refusal.of(shown(tensor), error))
    if len(distinct := set(files.values())) > limits.files:
        raise over_limit(f"{len(distinct)} files", limits.files, "files", origin)
    total = None
    try:
        total = _total_size(value.get("metadata"), origin.child("metadata", TOTAL_SIZE))
    except FormatError as error:
        refusals.append(Refusal.of(TOTAL_SIZE, error))
    return Index(origin=origin, files=files, total_size=total, refusals=tuple(refusals))


def _plain(file: str) -> str:
    return str(PurePosixPath(file)) if file else file


def _total_size(metadata: object, place: Origin) -> int | None:
    """The bytes that an index announces. Some writers print them with a decimal point, or as a text."""
    if not isinstance(metadata, dict) or TOTAL_SIZE not in metadata:
        return None
    total = metadata[TOTAL_SIZE]
    if type(total) is int:
        return total
    if type(total) is float and total.is_integer():
        return int(total)
    if isinstance(total, str) and _DIGITS.fullmatch(total):
        return int(total)
    raise FormatError(
        "SM005",
        f"{TOTAL_SIZE} is {shown(total)}, no number of bytes",
        place,
        help="write the sum of the bytes of all tensors",
    )
