"""What lies beside the tree of an Orbax checkpoint: how its arrays are laid over devices (``_sharding``), and
in which blocks each process wrote them (``array_metadatas/process_N``).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier.formats.orbax.named_sharding import NamedSharding, Unfit, named_sharding
from verifier.formats.reading.allowance import Allowance
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import integers, items_of, malformed, name_text
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.json_file import json_value, read_json
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.formats.zarr.store import entries_of
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

SHARDING = "_sharding"
BLOCKS = "array_metadatas"
NAMED = "NamedSharding"
ONE_DEVICE = "SingleDeviceSharding"

_PROCESS = re.compile(r"process_\d{1,9}", re.ASCII)

Sharding = NamedSharding | Unfit | str
"""How one array is laid over devices; the name of the kind where it is no NamedSharding."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """In blocks of which shape one array was written, and of which chunks they consist."""

    write_shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]


def read_shardings(
    folder: Path, origin: Origin, limits: Limits, gathered: Gathered
) -> Mapping[str, Sharding] | None:
    """The sharding of each array that ``_sharding`` names; None when the file is not there or no such file.

    An entry that cannot be read is refused by itself, and so is the file.
    """
    try:
        value = read_json(folder, SHARDING, origin, limits)
    except FileNotFoundError:
        return None
    except (FormatError, OSError) as error:
        gathered.refuse(SHARDING, error, origin)
        return None
    if not isinstance(value, dict):
        wrong = malformed(f"expected an object, found {shown(value)}", origin, "write the file again")
        gathered.refusals.append(Refusal.of(SHARDING, wrong))
        return None
    shardings: dict[str, Sharding] = {}
    # Arrays of one model share few shardings, and one over thousands of devices is long.
    read_before: dict[str, Sharding] = {}
    for key, text in value.items():
        place = below(origin, key)
        try:
            name = _array_name(key, place, limits)
            if not isinstance(text, str):
                raise malformed(f"expected text, found {shown(text)}", place, "write JSON in quotes")
            if text not in read_before:
                read_before[text] = _sharding(text, place, limits)
            shardings[name] = read_before[text]
        except FormatError as error:
            gathered.refusals.append(Refusal.of(f"{SHARDING} {shown(key)}", error))
    return shardings


def read_blocks(
    folder: Path, origin: Origin, left: Allowance, limits: Limits, gathered: Gathered
) -> Mapping[str, Blocks] | None:
    """The blocks of each array by the files of all processes; None when there are none.

    Files of different processes must state the same; CK114 where they do not.
    """
    try:
        names = [
            name for name in entries_of(folder / BLOCKS, origin, left, limits) if _PROCESS.fullmatch(name)
        ]
    except FileNotFoundError:
        return None
    except (FormatError, OSError) as error:
        gathered.refuse(BLOCKS, error, origin)
        return None
    by_process: dict[str, Mapping[str, Blocks]] = {}
    for name in sorted(names, key=lambda name: int(name.partition("_")[2])):
        file = Origin(f"{origin.file}/{name}")
        try:
            by_process[name] = _blocks_of(read_json(folder, f"{BLOCKS}/{name}", file, limits), file, limits)
        except (FormatError, OSError) as error:
            gathered.refuse(f"{BLOCKS}/{name}", error, file)
    if not by_process:
        return None
    (first, base), *others = by_process.items()
    for name, theirs in others:
        differing = sorted(array for array in {**base, **theirs} if base.get(array) != theirs.get(array))
        if differing:
            gathered.faults.append(_differ(differing, (first, base), (name, theirs), origin.file))
    gathered.holds("block lists of processes", len(by_process))
    return base


def _array_name(key: object, place: Origin, limits: Limits) -> str:
    try:
        name = base64.b64decode(str(key), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise malformed(
            f"the key {shown(key)} is no name in base 64", place, "write the file again"
        ) from None
    return name_text(name, place, limits)


def _sharding(text: str, place: Origin, limits: Limits) -> Sharding:
    # The text is a document inside a document: a place in it is shown as one below its key.
    value = json_value(text.encode("utf-8", "surrogatepass"), place, limits)
    kind = value.get("sharding_type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str):
        raise malformed("the sharding has no sharding_type", place, "write the file again")
    return named_sharding(value, place, limits) if kind == NAMED else name_text(kind, place, limits)


def _blocks_of(value: object, origin: Origin, limits: Limits) -> dict[str, Blocks]:
    items = value.get(BLOCKS) if isinstance(value, dict) else None
    blocks: dict[str, Blocks] = {}
    for position, item in enumerate(items_of(items, origin.child(BLOCKS))):
        place = origin.child(BLOCKS, position, "array_metadata")
        entry = item.get("array_metadata") if isinstance(item, dict) else None
        if not isinstance(entry, dict):
            raise malformed(f"expected an object, found {shown(entry)}", place, "write the file again")
        name = name_text(entry.get("param_name"), place.child("param_name"), limits)
        if name in blocks:
            raise FormatError(
                "SM003", f"the array {shown(name)} is listed twice", place, help="write the file again"
            )
        blocks[name] = Blocks(
            write_shape=_sizes(entry.get("write_shape"), place.child("write_shape")),
            chunk_shape=_sizes(entry.get("chunk_shape"), place.child("chunk_shape")),
        )
    return blocks


def _sizes(value: object, place: Origin) -> tuple[int, ...]:
    sizes = integers(value, place)
    if any(size < 0 for size in sizes):
        raise malformed(f"{list(sizes)} is no shape", place, "write sizes from 0 on")
    return sizes


def _differ(
    names: list[str],
    base: tuple[str, Mapping[str, Blocks]],
    other: tuple[str, Mapping[str, Blocks]],
    file: str,
) -> Fault:
    name = names[0]
    ours, theirs = base[1].get(name), other[1].get(name)
    return set_fault(
        "CK114",
        f"the array {shown(name)}",
        f"is {_words(ours)} by {base[0]}",
        stated=f"{_words(theirs)} by {other[0]}",
        file=file,
        reason="each process restores by its own file",
        number=len(names),
    )


def _words(blocks: Blocks | None) -> str:
    if blocks is None:
        return "not listed"
    return f"written in blocks of {list(blocks.write_shape)}, chunks of {list(blocks.chunk_shape)}"
