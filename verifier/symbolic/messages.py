"""Whether the text of a size went into an error message and nowhere else.

Text of a size is another one than that of the number, so code that looks at it goes another way. Where it is
made for a message, nothing looks at it: the code runs straight on to its ``raise``.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType

Stack = tuple[tuple[FrameType, int], ...]
"""The functions under way, the innermost first, and at which instruction each of them is."""

_JUMPS = {*dis.hasjrel, *dis.hasjabs}
_ENDS = {"PUSH_EXC_INFO", "RAISE_VARARGS", "RERAISE", "RETURN_CONST", "RETURN_VALUE"}
"""Behind these an instruction is reached otherwise than by running on."""


def stack_of_caller() -> Stack:
    """The functions under way, from the one that asks on."""
    return tuple(_frames(sys._getframe(1)))


def ends_in_message(stack: Stack, error: BaseException | None) -> bool:
    """Whether a text that was made at ``stack`` was for the message of the ``raise`` that ended the code.

    True only when the instruction is inside that statement, or no jump lies between the two. An error that
    was raised in place of another one may tell its message again.
    """
    while error is not None:
        if error.__traceback__ is not None and _is_for(stack, _last(error.__traceback__)):
            return True
        error = error.__context__
    return False


def _is_for(stack: Stack, last: TracebackType) -> bool:
    code = last.tb_frame.f_code
    return any(
        frame is last.tb_frame and _leads_to_raise(code, place, last.tb_lasti) for frame, place in stack
    )


def _frames(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    while frame is not None:
        yield frame, frame.f_lasti
        frame = frame.f_back


def _last(traceback: TracebackType) -> TracebackType:
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _leads_to_raise(code: CodeType, place: int, end: int) -> bool:
    """``place`` may be anywhere inside of an instruction, as while it calls a function."""
    instructions = list(dis.get_instructions(code))
    raising = [one for one in instructions if one.offset == end and one.opname == "RAISE_VARARGS"]
    if not raising or not 0 <= place <= end:
        return False
    begun = [one for one in instructions if one.offset <= place]
    between = [one for one in instructions if place < one.offset < end]
    straight = not any(one.opcode in _JUMPS or one.opname in _ENDS for one in between)
    return straight or _is_inside(begun[-1], raising[0])


def _is_inside(one: dis.Instruction, statement: dis.Instruction) -> bool:
    """Whether the text of an instruction is part of that of a statement."""
    here, there = one.positions, statement.positions
    if here is None or there is None:
        return False
    starts, ends = (there.lineno, there.col_offset), (there.end_lineno, there.end_col_offset)
    from_, to = (here.lineno, here.col_offset), (here.end_lineno, here.end_col_offset)
    if None in (*starts, *ends, *from_, *to):
        return False
    return starts <= from_ and to <= ends
