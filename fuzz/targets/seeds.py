"""The inputs that fuzzing starts from: each layout, real maps, real and hostile pickles.

    python -m fuzz.targets.seeds    writes them to corpora/seeds; what else is there was found by fuzzing

The bytes of a seed are the first decisions of its target, spelled out here, and then a fixed random tail.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from fuzz.cases import Selection
from fuzz.targets.catalogue import NAMES, SEEDS

CORPORA = SEEDS.parent
TAIL = 160
LAYOUTS = Selection().layouts
RIGHT, WRONG = b"\x00", b"\xff"
"""Whether a case has a mutant; it follows if so."""
MAPS = ("piece-missing", "locations-empty", "offset-beyond-int64")
HOSTILE = (
    *("os_system_reduce", "proto0_os_system", "inst_opcode", "newobj_ex", "persistent_id", "huge_binbytes8"),
    *("memo_bomb_long_binput", "self_containing_list", "build_on_an_allowed_class_poisoning"),
)


def seeds_of(target: str) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the inputs of one target."""
    match target:
        case "map_documents":
            for at, (name, case) in enumerate(_cases()):
                # Not raw; one form after the other; every third with an edit of the value, or of the text.
                yield name, bytes([0, at % 4, at % 3 == 1, at % 3 == 2]) + case
            for name in MAPS:
                yield f"map-{name}", b"\x03" + (CORPORA / "maps" / f"{name}.json").read_bytes()
        case "geometry":
            yield from _cases()
        case "certificates":
            for at, (name, case) in enumerate(_cases(wrong=False)):
                yield name, bytes([0, at % 3, at // 3 % 3, 0]) + case
        case "pickles":
            yield from _pickles()
        case "contract_documents":
            yield from _contracts()
        case "protocol_documents":
            yield from _protocols()


def _cases(*, wrong: bool = True) -> Iterator[tuple[str, bytes]]:
    """What ``case_from`` reads: each layout once, every second one with a mutant."""
    for at, layout in enumerate(LAYOUTS):
        mutant = WRONG + bytes([at]) if wrong and at % 2 else RIGHT
        yield f"layout-{layout}", bytes([at]) + mutant + b"\0" + random.Random(layout).randbytes(TAIL)


def _contracts() -> Iterator[tuple[str, bytes]]:
    """Cuts with a geometry, contracts, cuts, and both together with edits of their text."""
    for at, kind in enumerate(("induced", "contract", "cut", "edited")):
        for number in range(8):
            yield f"{kind}-{number}", bytes([at]) + random.Random(f"{kind} {number}").randbytes(2 * TAIL)


def _protocols() -> Iterator[tuple[str, bytes]]:
    """Protocols of any kind, changed ones, and documents with edits of their value or of their text."""
    for at, kind in enumerate(("drawn", "changed", "value", "text")):
        for number in range(8):
            yield f"{kind}-{number}", bytes([at]) + random.Random(f"{kind} {number}").randbytes(2 * TAIL)


def _pickles() -> Iterator[tuple[str, bytes]]:
    raw = b"\x01\xff\x00\x00"  # the grammar of torch, no archive, no edits of it, raw bytes
    for name in ("good", "good_string_keys"):
        with ZipFile(CORPORA / "files" / "ds_affine" / f"{name}.pt") as archive:
            yield f"real-{name}", raw + archive.read(f"{name}/data.pkl")
    for name in HOSTILE:
        yield f"hostile-{name}", raw + (CORPORA / "files" / "hostile" / f"{name}.pickle").read_bytes()
    for at, layout in enumerate(("column", "scaled", "empties", "scalar", "padded", "replicated")):
        # A checkpoint with ``at`` edits, in an archive, whose first byte of the tail is its protocol.
        case = bytes([LAYOUTS.index(layout)]) + RIGHT + b"\0" + random.Random(at).randbytes(3 * TAIL)
        yield f"checkpoint-{layout}", bytes([1, 0, 0, 2, at, 0]) + case
    yield "opcodes", bytes([1, 255, 0, 1, 63]) + random.Random(0).randbytes(TAIL)


def main() -> None:
    """Write the inputs of all targets."""
    for target in NAMES:
        folder: Path = SEEDS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds_of(target):
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
