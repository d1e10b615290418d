"""Pickle opcodes at random: each that there is, with an operand of its kind."""

from __future__ import annotations

import pickletools
import random
from collections.abc import Callable

Operand = Callable[[random.Random], bytes]

MODULES = (
    "torch",
    "torch._utils",
    "collections",
    "builtins",
    "__builtin__",
    "os",
    "argparse",
    "_codecs",
    "x.y",
)
NAMES = (
    "Size",
    "OrderedDict",
    "set",
    "Namespace",
    "eval",
    "system",
    "_rebuild_tensor_v2",
    "encode",
    "a.b",
    "",
)
TEXTS = (b"", b"a", b"params", b"version", b"storage", b"0", b"cpu", b"\xff", b"\xc3\xa9", b"module", b"12")
LINES = (b"", b"0", b"00", b"01", b"1", b"-1", b"12L", b"1.5", b"nan", b"'a'", b"x\\n", b"9" * 200)
SIZES = (0, 1, 2, 3, 5, 255, 2**16, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1)


def opcode(rng: random.Random) -> bytes:
    """Any opcode there is, with an operand of its kind: often a plausible one, sometimes a lie."""
    chosen = rng.choice(pickletools.opcodes)
    kind = None if chosen.arg is None else chosen.arg.name
    return chosen.code.encode("latin-1") + (b"" if kind is None else _OPERANDS[kind](rng))


def _number(width: int) -> Operand:
    def operand(rng: random.Random) -> bytes:
        value = rng.choice(SIZES) if rng.random() < 0.5 else rng.getrandbits(8)
        return value.to_bytes(8, "little")[:width]

    return operand


def _sized(width: int) -> Operand:
    def operand(rng: random.Random) -> bytes:
        text = rng.choice(TEXTS)
        size = len(text) if rng.random() < 0.8 else rng.choice(SIZES)
        return size.to_bytes(8, "little")[:width] + text

    return operand


def _line(rng: random.Random) -> bytes:
    return rng.choice(LINES) + b"\n"


def _two_lines(rng: random.Random) -> bytes:
    return f"{rng.choice(MODULES)}\n{rng.choice(NAMES)}\n".encode()


_WIDTHS = {"uint1": 1, "uint2": 2, "int4": 4, "uint4": 4, "uint8": 8, "float8": 8}
_SIZED = {
    **dict.fromkeys(("long1", "string1", "bytes1", "unicodestring1"), 1),
    **dict.fromkeys(("long4", "string4", "bytes4", "unicodestring4"), 4),
    **dict.fromkeys(("bytes8", "bytearray8", "unicodestring8"), 8),
}
_LINES = (
    "stringnl",
    "stringnl_noescape",
    "decimalnl_short",
    "decimalnl_long",
    "floatnl",
    "unicodestringnl",
)
_OPERANDS: dict[str, Operand] = {
    **{kind: _number(width) for kind, width in _WIDTHS.items()},
    **{kind: _sized(width) for kind, width in _SIZED.items()},
    **dict.fromkeys(_LINES, _line),
    "stringnl_noescape_pair": _two_lines,
}
"""What follows an opcode, by the kind of its operand, as the standard library calls it."""
