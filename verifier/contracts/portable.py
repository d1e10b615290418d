"""Optimizer state in a file that any topology can load: closed keys, plain values, a digest over all of it.

Rules: R66 for its form, R67 for values, R68 for what says that it is complete, N31 for names. A value is
null, a bool, an integer, a text, a finite number, a list, or an object with one of the members ``dict``,
``tuple`` and ``tensor``; nothing else can stand for a value, so nothing has to be guessed or called.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

from verifier.contracts.cutting import decode_parameter
from verifier.contracts.reading import LARGEST, MOST_DIMENSIONS, MOST_MEMBERS, UNREAD, Members, Value, shown
from verifier.contracts.rules.manifests import names_are_told_apart

FORMAT = "shardproof.optimizer_state"
VERSION = 1
ALGORITHM = "sha256"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEX = re.compile(r"[0-9a-f]*+")

DTYPES: Mapping[str, tuple[str, int]] = {
    "bool": ("B", 0),
    "uint8": ("B", 0),
    "int8": ("B", 0),
    "int16": ("H", 0),
    "int32": ("I", 0),
    "int64": ("Q", 0),
    "float16": ("H", 0x7C00),
    "bfloat16": ("H", 0x7F80),
    "float32": ("I", 0x7F800000),
    "float64": ("Q", 0x7FF0000000000000),
}
"""The word of a little-endian element, and the bits that are all set where it is infinite or no number."""


@dataclass(frozen=True, slots=True)
class PortableState:
    """How many parameters a document of portable state is about, by variant."""

    variants: Mapping[str, str]


def decode_portable(value: Value) -> PortableState:
    """The state of each parameter; everything that breaks a rule is noted."""
    members = Members(value, "R66")
    _constant(members.need("format", "R66", FORMAT), FORMAT)
    _constant(members.need("version", "R66", VERSION), VERSION)
    entries = members.need("parameters", "R66", {}).entries("R66", MOST_MEMBERS)
    variants = {fqn: _parameter(fqn, entry) for fqn, entry in entries.items()}
    places = [entry.pointer for entry in entries.values()]
    for position, found in names_are_told_apart([*entries]):
        value.notes.add(replace(found, pointer=places[position]))
    _values(members.need("common", "R66", {}))
    completion = members.need("completion", "R68", None)
    members.done("R66")
    if "completion" in members.there:
        _completion(completion, value)
    return PortableState(variants)


def _constant(value: Value, expected: object) -> None:
    if type(value.raw) is not type(expected) or value.raw != expected:
        value.broken("R66", f"{shown(value.raw)} is not {shown(expected)}")


def _parameter(fqn: str, value: Value) -> str:
    """One parameter: its identity, whose name is the key, the variant it is in, and its state."""
    members = Members(value, "R66")
    identity = members.need("parameter", "R66", {"fqn": "w", "shape": []})
    name, _ = decode_parameter(identity, "R66")
    if "parameter" in members.there and name != fqn:
        identity.broken("R66", f"the identity of {fqn!r} is about {name!r}")
    variant = members.need("variant", "R66", UNREAD).text("R66")
    _values(members.need("state", "R66", {}))
    members.done("R66")
    return variant


def _values(value: Value) -> None:
    for name, entry in value.entries("R66").items():
        if not name:
            entry.broken("R66", "a value has no name")
        _plain(entry)


def _plain(value: Value) -> None:
    """R67: one value that means the same everywhere."""
    match value.raw:
        case None | bool() | str():
            return
        case int(number):
            if abs(number) > LARGEST:
                value.broken("R67", f"{shown(number)} does not fit 64 bits")
        case float(number):
            if not math.isfinite(number):
                value.broken("R67", f"{number} is not finite")
        case list():
            for item in value.items("R67", MOST_MEMBERS):
                _plain(item)
        case dict():
            _marked(value)
        case _:
            value.broken("R67", f"{shown(value.raw)} is no plain value")


def _marked(value: Value) -> None:
    """An object with one member that says what it stands for."""
    entries = value.entries("R67", MOST_MEMBERS)
    match [*entries]:
        case ["dict"]:
            for item in entries["dict"].entries("R67", MOST_MEMBERS).values():
                _plain(item)
        case ["tuple"]:
            for item in entries["tuple"].items("R67", MOST_MEMBERS):
                _plain(item)
        case ["tensor"]:
            _tensor(entries["tensor"])
        case _:
            value.broken(
                "R67", f"{shown(value.raw)} is no plain value: dict, tuple or tensor says what it is"
            )


def _tensor(value: Value) -> None:
    """A dense tensor: dtype, shape, and its elements in row-major order as little-endian bytes in hex."""
    members = Members(value, "R67")
    dtype = members.need("dtype", "R67", "uint8").text("R67", "uint8")
    shape = members.need("shape", "R67", []).ordered("R67", MOST_DIMENSIONS)
    extents = [extent.integer("R67", least=0) for extent in shape]
    data = members.need("data", "R67", "")
    members.done("R67")
    if dtype not in DTYPES:
        value.broken("R67", f"{shown(dtype)} is no dtype of a plain tensor")
    elif type(data.raw) is not str or len(data.raw) % 2 or not _HEX.fullmatch(data.raw):
        data.broken("R67", "the elements are no bytes in lower-case hex")
    else:
        word, nonfinite = DTYPES[dtype]
        stored, needed = len(data.raw) // 2, math.prod(extents) * struct.calcsize(f"<{word}")
        if stored != needed:
            data.broken("R67", f"{stored} bytes; {dtype} {extents} has {needed}")
        elif nonfinite and _has(bytes.fromhex(data.raw), word, nonfinite):
            data.broken("R67", "an element is infinite or no number")
        elif dtype == "bool" and not {*bytes.fromhex(data.raw)} <= {0, 1}:
            data.broken("R67", "an element of bool is neither the byte 00 nor 01")


def _has(data: bytes, word: str, bits: int) -> bool:
    return any(found & bits == bits for (found,) in struct.iter_unpack(f"<{word}", data))


def _completion(value: Value, whole: Value) -> None:
    """R68: the state is complete, and its digest is that of everything else."""
    members = Members(value, "R68")
    status = members.need("status", "R68", "complete")
    algorithm = members.need("algorithm", "R68", ALGORITHM)
    digest = members.need("digest", "R68", "0" * 64)
    members.done("R68")
    if status.raw != "complete":
        status.broken("R68", f"the status is {shown(status.raw)}, not complete")
    if algorithm.raw != ALGORITHM:
        algorithm.broken("R68", f"the algorithm is {shown(algorithm.raw)}, not {ALGORITHM}")
    if type(digest.raw) is not str or not _DIGEST.fullmatch(digest.raw):
        digest.broken("R68", f"{shown(digest.raw)} is not 64 lower-case hex digits")
    elif not whole.notes.broken and type(whole.raw) is dict and digest.raw != digest_of(whole.raw):
        digest.broken("R68", "the digest is not that of the document")


def digest_of(document: Mapping[str, object]) -> str:
    """The digest of everything but ``completion``: names, values, dtypes, shapes and bytes of tensors.

    Raises:
        ValueError: the document holds a value that JSON has not.
    """
    rest = {key: value for key, value in document.items() if key != "completion"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
