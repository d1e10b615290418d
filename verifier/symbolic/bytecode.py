"""Instructions of functions: at which one a function is, and what a call calls."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, FrameType

CALLS = frozenset({"CALL", "CALL_KW"})
FORMATS = frozenset({"FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC"})
_ASSERTION = frozenset({"LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT"})
_JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs})

_NAMES = frozenset(
    {
        "LOAD_CONST",
        "LOAD_DEREF",
        "LOAD_FAST",
        "LOAD_FAST_BORROW",
        "LOAD_FAST_CHECK",
        "LOAD_GLOBAL",
        "LOAD_SMALL_INT",
    }
)
_OF_ONE = frozenset({"TO_BOOL", "UNARY_INVERT", "UNARY_NEGATIVE", "UNARY_NOT", "UNARY_POSITIVE"})
_OF_TWO = frozenset({"BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "CONTAINS_OP", "IS_OP"})
OPERATORS = _OF_ONE | _OF_TWO
_CONDITIONS = ("POP_JUMP", "JUMP_IF")

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


def reads_names(code: CodeType, instruction: dis.Instruction) -> bool:
    """Whether an operator or a conditional jump takes only names, constants and operators of them."""
    own = [one for one in before(code, instruction) if one.opname != "EXTENDED_ARG"]
    if instruction.opname in OPERATORS:
        begin = _begin([*own, instruction], len(own))
    elif instruction.opname.startswith(_CONDITIONS) and not instruction.is_jump_target:
        begin = _begin(own, len(own) - 1)
    else:
        return False
    return begin is not None


def is_member_of_name(code: CodeType, attribute: dis.Instruction) -> bool:
    """Whether an attribute is loaded of a name, or of such an attribute."""
    base = base_of(code, attribute)
    if base is None:
        return False
    return base.opname in _NAMES or (base.opname == "LOAD_ATTR" and is_member_of_name(code, base))


def _begin(own: Sequence[dis.Instruction], last: int) -> int | None:
    """Where the expression of names and operators begins that ends with an instruction.

    Jumps lead to no instruction of it but the first.
    """
    if last < 0:
        return None
    one = own[last]
    if one.opname in _NAMES:
        return last
    if one.is_jump_target or one.opname not in OPERATORS:
        return None
    right = _begin(own, last - 1)
    if right is None or one.opname in _OF_ONE:
        return right
    return None if own[right].is_jump_target else _begin(own, right - 1)


def callee_of(code: CodeType, call: dis.Instruction) -> dis.Instruction | None:
    """The load of what a call calls.

    None where that is no load of a name or attribute, or where nothing is known of the text.
    """
    asserted = _asserted(arguments_of(code, call)) if _is_raised(code, call) else None
    if asserted is not None:
        return asserted
    return next((one for one in leading(code, call) if one.opname.startswith("LOAD_")), None)


def arguments_of(code: CodeType, call: dis.Instruction) -> list[dis.Instruction]:
    """All that stand before a call; the last one makes its last argument, or loads what is called."""
    return [one for one in before(code, call) if one.opname not in ("KW_NAMES", "PRECALL")]


def _is_raised(code: CodeType, call: dis.Instruction) -> bool:
    """Whether what a call makes is raised at once; PRECALL is the same call."""
    behind = [one.opname for one in instructions(code) if one.offset > call.offset]
    return behind[call.opname == "PRECALL" :][:1] == ["RAISE_VARARGS"]


def leading(code: CodeType, instruction: dis.Instruction) -> list[dis.Instruction]:
    """The instructions of the longest smaller expression that begins where that of an instruction begins."""
    span = _span(instruction)
    begins = [] if span is None else list(_beginning(before(code, instruction), span))
    return [one for one, end in begins if end == max(end for _, end in begins)]


def base_of(code: CodeType, attribute: dis.Instruction) -> dis.Instruction | None:
    """The load of what an attribute is loaded of, where that is a name and no other."""
    earlier = before(code, attribute)
    known = earlier and not attribute.is_jump_target and earlier[-1].opname.startswith("LOAD_")
    return earlier[-1] if known else None


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
