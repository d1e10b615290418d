"""What each pickle opcode does to the machine: those that data needs, and the names of those that act."""

from __future__ import annotations

import struct
from collections.abc import Callable

from verifier.formats.pickles.machine import MARK, Machine
from verifier.formats.reading.refusal import shown

HIGHEST_PROTOCOL = 5

Operation = Callable[[Machine], None]


def _push(value: object) -> Operation:
    return lambda machine: machine.stack.append(value)


def _new(kind: Callable[[], object]) -> Operation:
    return lambda machine: machine.stack.append(kind())


def _mark(machine: Machine) -> None:
    machine.stack.append(MARK)
    machine.marks += 1


def _pop(machine: Machine) -> None:
    if machine.stack and machine.stack[-1] is MARK:
        machine.since_mark()
    else:
        machine.pop()


def _protocol(machine: Machine) -> None:
    version = machine.byte()
    if version > HIGHEST_PROTOCOL:
        raise machine.refused("SM001", f"pickle protocol {version}; the highest known is {HIGHEST_PROTOCOL}")


def _frame(machine: Machine) -> None:
    size = machine.unsigned(8)
    if size > len(machine.data) - machine.at:
        raise machine.refused("SM001", f"a frame of {size} bytes, {len(machine.data) - machine.at} left")


def _int_line(machine: Machine) -> None:
    raw = machine.line()
    # Protocol 0 writes booleans so.
    machine.stack.append({b"00": False, b"01": True}[raw] if raw in (b"00", b"01") else machine.decimal(raw))


def _long_line(machine: Machine) -> None:
    machine.stack.append(machine.decimal(machine.line().removesuffix(b"L")))


def _unsigned(width: int) -> Operation:
    return lambda machine: machine.stack.append(machine.unsigned(width))


def _signed_four(machine: Machine) -> None:
    machine.stack.append(int.from_bytes(machine.take(4), "little", signed=True))


def _long(width: int) -> Operation:
    def operation(machine: Machine) -> None:
        size = machine.unsigned(width)
        # A byte holds more than two decimal digits.
        if 2 * size > machine.limits.integer_digits:
            raise machine.refused("SM006", f"an integer of {size} bytes")
        machine.stack.append(int.from_bytes(machine.take(size), "little", signed=True))

    return operation


def _float_line(machine: Machine) -> None:
    raw = machine.text(machine.line(), "ascii")
    try:
        machine.stack.append(float(raw))
    except ValueError:
        raise machine.refused("SM001", f"{shown(raw)} is no number") from None


def _float_binary(machine: Machine) -> None:
    machine.stack.append(struct.unpack(">d", machine.take(8))[0])


def _string_line(machine: Machine) -> None:
    raw = machine.line()
    if len(raw) < 2 or raw[:1] != raw[-1:] or raw[:1] not in (b"'", b'"') or b"\\" in raw:
        raise machine.refused("SM001", "a string that is not in plain quotes")
    machine.stack.append(machine.text(raw[1:-1], "ascii"))


def _unicode_line(machine: Machine) -> None:
    raw = machine.line()
    if b"\\" in raw:
        raise machine.refused("SM001", "a text with escapes in a protocol 0 pickle")
    machine.stack.append(machine.text(raw, "latin-1"))


def _sized(width: int, encoding: str | None) -> Operation:
    """A length of ``width`` bytes, then as many bytes: a text in ``encoding``, or the bytes themselves."""

    def operation(machine: Machine) -> None:
        raw = machine.take(machine.unsigned(width))
        machine.stack.append(raw if encoding is None else machine.text(raw, encoding))

    return operation


def _tuple_of(count: int) -> Operation:
    def operation(machine: Machine) -> None:
        items = [machine.pop() for _ in range(count)]
        machine.stack.append(tuple(reversed(items)))

    return operation


def _tuple(machine: Machine) -> None:
    machine.stack.append(tuple(machine.since_mark()))


def _list(machine: Machine) -> None:
    machine.stack.append(machine.since_mark())


def _dict(machine: Machine) -> None:
    items = machine.since_mark()
    target: dict[object, object] = {}
    machine.set_items(target, items)
    machine.stack.append(target)


def _append(machine: Machine) -> None:
    item = machine.pop()
    machine.append(machine.top(), [item])


def _appends(machine: Machine) -> None:
    items = machine.since_mark()
    machine.append(machine.top(), items)


def _set_item(machine: Machine) -> None:
    item = machine.pop()
    key = machine.pop()
    machine.set_items(machine.top(), [key, item])


def _set_items(machine: Machine) -> None:
    items = machine.since_mark()
    machine.set_items(machine.top(), items)


def _global(machine: Machine) -> None:
    module = machine.text(machine.line())
    machine.refer(module, machine.text(machine.line()))


def _stack_global(machine: Machine) -> None:
    name, module = machine.pop(), machine.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise machine.refused("SM001", "a reference whose name is no text")
    machine.refer(module, name)


def _call(machine: Machine) -> None:
    args, function = machine.pop(), machine.pop()
    machine.call(function, args)


def _build(machine: Machine) -> None:
    state = machine.pop()
    machine.build(machine.top(), state)


def _persistent(machine: Machine) -> None:
    machine.persistent(machine.pop())


STOP = ord(".")
OPERATIONS: dict[int, Operation] = {
    0x80: _protocol,
    0x95: _frame,
    ord("("): _mark,
    ord("0"): _pop,
    ord("1"): lambda machine: machine.since_mark().clear(),
    ord("2"): lambda machine: machine.stack.append(machine.top()),
    ord("N"): _push(None),
    0x88: _push(True),
    0x89: _push(False),
    ord("I"): _int_line,
    ord("L"): _long_line,
    ord("J"): _signed_four,
    ord("K"): lambda machine: machine.stack.append(machine.byte()),
    ord("M"): _unsigned(2),
    0x8A: _long(1),
    0x8B: _long(4),
    ord("F"): _float_line,
    ord("G"): _float_binary,
    ord("S"): _string_line,
    ord("V"): _unicode_line,
    ord("U"): _sized(1, "ascii"),
    ord("T"): _sized(4, "ascii"),
    0x8C: _sized(1, "utf-8"),
    ord("X"): _sized(4, "utf-8"),
    0x8D: _sized(8, "utf-8"),
    ord("C"): _sized(1, None),
    ord("B"): _sized(4, None),
    0x8E: _sized(8, None),
    0x96: _sized(8, None),  # a bytearray; nobody here changes it
    ord(")"): _push(()),
    0x85: _tuple_of(1),
    0x86: _tuple_of(2),
    0x87: _tuple_of(3),
    ord("t"): _tuple,
    ord("]"): _new(list),
    ord("l"): _list,
    ord("a"): _append,
    ord("e"): _appends,
    ord("}"): _new(dict),
    ord("d"): _dict,
    ord("s"): _set_item,
    ord("u"): _set_items,
    ord("p"): lambda machine: machine.remember(machine.decimal(machine.line())),
    ord("q"): lambda machine: machine.remember(machine.byte()),
    ord("r"): lambda machine: machine.remember(machine.unsigned(4)),
    0x94: lambda machine: machine.remember(len(machine.memo)),
    ord("g"): lambda machine: machine.recall(machine.decimal(machine.line())),
    ord("h"): lambda machine: machine.recall(machine.byte()),
    ord("j"): lambda machine: machine.recall(machine.unsigned(4)),
    ord("c"): _global,
    0x93: _stack_global,
    ord("R"): _call,
    0x81: _call,
    ord("b"): _build,
    ord("Q"): _persistent,
}
"""What each known opcode does. NEWOBJ (0x81) asks for the same as REDUCE: a call with arguments."""

ACTING_OPCODES = {
    ord("i"): "INST",
    ord("o"): "OBJ",
    0x92: "NEWOBJ_EX",
    0x82: "EXT1",
    0x83: "EXT2",
    0x84: "EXT4",
    ord("P"): "PERSID",
}
"""Opcodes that make Python act, and that no file of ours uses."""
