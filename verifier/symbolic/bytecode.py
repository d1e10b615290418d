"""Instructions of functions: at which one a function is, and what a call calls."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, FrameType

CALLS = frozenset({"CALL", "CALL_KW"})
_ASSERTION = frozenset({"LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT"})
_JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs})

Point = tuple[int, int]
"""Line and column."""


@lru_cache(maxsize=512)
def instructions(code: CodeType) -> tuple[dis.Instruction, ...]:
    """All of them, without the room that they have for caches."""
    return tuple([one for one in dis.get_instructions(code) if one.opname != "CACHE"])


def instruction_at(frame: FrameType) -> dis.Instruction:
    """The instruction that a function is at; one that waits may be told by a place inside of it."""
    own = instructions(frame.f_code)
    return next((one for one in reversed(own) if one.offset <= frame.f_lasti), own[0])


def before(code: CodeType, instruction: dis.Instruction) -> list[dis.Instruction]:
    """All that stand before an instruction."""
    return [one for one in instructions(code) if one.offset < instruction.offset]


def callee_of(code: CodeType, call: dis.Instruction) -> dis.Instruction | None:
    """The load of what a call calls: the longest expression before it that begins where the call begins.

    None where that is no load of a name or attribute, or where nothing is known of the text.
    """
    earlier = before(code, call)
    if earlier and earlier[-1].opname == "PRECALL":
        earlier.pop()
    asserted = _asserted(earlier)
    if asserted is not None:
        return asserted
    span = _span(call)
    begins = [] if span is None else list(_beginning(earlier, span))
    if not begins:
        return None
    longest = max(end for _, end in begins)
    return next((one for one, end in begins if end == longest and one.opname.startswith("LOAD_")), None)


def base_of(code: CodeType, attribute: dis.Instruction) -> dis.Instruction | None:
    """The load of what an attribute is loaded of, where that is a name."""
    earlier = before(code, attribute)
    return earlier[-1] if earlier and earlier[-1].opname.startswith("LOAD_") else None


def _beginning(
    earlier: Sequence[dis.Instruction], span: tuple[Point, Point]
) -> Iterator[tuple[dis.Instruction, Point]]:
    """Instructions of expressions that begin where a longer one does, with their ends."""
    for one in earlier:
        own = _span(one)
        if own is not None and own[0] == span[0] and own[1] < span[1]:
            yield one, own[1]


def _asserted(earlier: Sequence[dis.Instruction]) -> dis.Instruction | None:
    """The load of the exception of an assertion whose message was put together; none of it is a jump."""
    for place in range(len(earlier) - 1, -1, -1):
        one = earlier[place]
        if one.opname in _ASSERTION:
            return one
        if one.opcode in _JUMPS or one.opname in CALLS:
            return None
    return None


def _span(one: dis.Instruction) -> tuple[Point, Point] | None:
    at = one.positions
    if at is None or at.lineno is None or at.end_lineno is None:
        return None
    if at.col_offset is None or at.end_col_offset is None:
        return None
    return (at.lineno, at.col_offset), (at.end_lineno, at.end_col_offset)
