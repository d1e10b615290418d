"""Pickle streams from bytes: what torch.save could have written of a map, edited; and opcodes at random.

A stream is a list of opcodes with their operands, written here and never by Python's own pickler: it is meant
to be wrong in ways that no pickler is.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from types import MappingProxyType
from zipfile import ZipFile, ZipInfo

from fuzz.cases import Selection
from fuzz.documents.forms import map_document
from fuzz.targets.bytes_random import BytesRandom, case_from
from fuzz.targets.edits import edited_bytes
from fuzz.targets.opcodes import opcode
from verifier.formats.pickles.records import Call, Name
from verifier.formats.pickles.torch_zip import SIZE, TENSOR_V2

FEW = Selection(size=8)
MAPPING = Name("collections", "OrderedDict")
MOST_OPCODES = 64


def stream_from(rng: BytesRandom) -> bytes:
    """By the first byte raw bytes, opcodes at random, or a checkpoint with as many edits as the bytes say."""
    form = rng.getrandbits(2)
    if form == 0:
        return rng.rest()
    if form == 1:
        return b"".join(opcode(rng) for _ in range(rng.randint(1, MOST_OPCODES))) + b"."
    edits = rng.getrandbits(3)
    stream = [b"\x80", bytes([rng.choice((2, 2, 4, 5, 0, 9))]), *written(rng, checkpoint(rng)), b"."]
    for _ in range(edits):
        _edit(rng, stream)
    return b"".join(stream)


def archive_of(
    rng: BytesRandom, stream: bytes, edits: int, storages: Mapping[str, int] = MappingProxyType({"0": 8})
) -> bytes:
    """A zip archive as torch.save writes them, with storages of so many bytes, and that many edits."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in (("data.pkl", stream), ("version", b"3\n")):
            archive.writestr(ZipInfo(f"w/{name}"), data)
        for name, size in storages.items():
            archive.writestr(ZipInfo(f"w/data/{name}"), bytes(size))
    return edited_bytes(rng, buffer.getvalue(), edits)


def written(rng: random.Random, value: object) -> Iterator[bytes]:
    """The opcodes that build a value, each in one of the ways there are."""
    match value:
        case None | bool():
            yield {None: b"N", True: b"\x88", False: b"\x89"}[value]
        case int():
            yield rng.choice((_long, _line_of_int, *([_small] if 0 <= value < 256 else [])))(value)
        case float():
            yield b"G" + struct.pack(">d", value)
        case str():
            raw = value.encode()
            yield rng.choice((b"\x8c" + bytes([len(raw)]), b"X" + struct.pack("<I", len(raw)))) + raw
        case list() | tuple():
            yield from _sequence(rng, value)
        case dict():
            yield from (b"}",) if rng.random() < 0.5 else (*_reference(rng, MAPPING), b")", b"R")
            yield b"("
            for key, item in value.items():
                yield from written(rng, key)
                yield from written(rng, item)
            yield b"u"
        case Name():
            yield from _reference(rng, value)
        case Call():
            yield from written(rng, value.function)
            yield from written(rng, value.args)
            yield b"R"
        case _Outside():
            yield from written(rng, value.identity)
            yield b"Q"
    if rng.random() < 0.1:
        yield rng.choice((b"\x94", b"q" + bytes([rng.getrandbits(8)])))


def _sequence(rng: random.Random, value: list[object] | tuple[object, ...]) -> Iterator[bytes]:
    short = isinstance(value, tuple) and len(value) in (1, 2, 3) and rng.random() < 0.5
    if not short:
        yield from (b"]", b"(") if isinstance(value, list) else (b"(",)
    for item in value:
        yield from written(rng, item)
    if short:
        yield bytes([0x84 + len(value)])
    else:
        yield b"e" if isinstance(value, list) else b"t"


def _reference(rng: random.Random, name: Name) -> Iterator[bytes]:
    if rng.random() < 0.5:
        yield f"c{name.module}\n{name.name}\n".encode()
    else:
        yield from written(rng, name.module)
        yield from written(rng, name.name)
        yield b"\x93"


def _long(value: int) -> bytes:
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def _line_of_int(value: int) -> bytes:
    return b"I%d\n" % value


def _small(value: int) -> bytes:
    return b"K" + bytes([value])


class _Outside:
    """A value that stands outside of the pickle."""

    def __init__(self, identity: object) -> None:
        self.identity = identity


def checkpoint(rng: BytesRandom) -> object:
    """The value of a model-states file for a small map, or the map alone."""
    case = case_from(rng, FEW)
    params = {"version": 1, "params": {"^w$": map_document(case.shard_map)}}
    if rng.random() < 0.3:
        return params
    module = {}
    for rank, shard in case.shard_map.ranks.items():
        shape = shard.shard_shape
        storage = _Outside(("storage", Name("torch", "FloatStorage"), str(rank), "cpu", shard.numel))
        size = Call(SIZE, (shape,)) if rng.random() < 0.5 else shape
        module["w"] = Call(TENSOR_V2, (storage, 0, size, tuple(1 for _ in shape), False, {}))
    shapes = [{"w": Call(SIZE, (tuple(case.shard_map.logical_shape),))}]
    degrees = {"tp_degree": len(case.shard_map.ranks)}
    info = {"affine_map": params, "tp_replicated_parameter_patterns": ["^b$"]}
    return {
        "module": module,
        "param_shapes": shapes,
        "checkpoint_parallel_dimensions": degrees,
        "universal_checkpoint_info": info,
    }


def _edit(rng: BytesRandom, stream: list[bytes]) -> None:
    """One opcode put in, dropped, doubled, exchanged for another one or moved."""
    at = rng.randrange(len(stream))
    match rng.randrange(5):
        case 0:
            stream.insert(at, opcode(rng))
        case 1 if len(stream) > 1:
            del stream[at]
        case 2:
            stream.insert(at, stream[at])
        case 3:
            stream[at] = opcode(rng)
        case _:
            stream.insert(rng.randrange(len(stream)), stream.pop(at))
