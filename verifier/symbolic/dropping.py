"""Statements that hand text to a function and drop what comes back: ``require(rows > 0, f"{rows} rows")``.

The text of a size is gone when such a statement is over. Until then it is on the stack of the function that
makes it, where only the instructions of the statement reach it, and in parameters of what is called, where
it is reached by name. So as long as nothing loads those names, nothing depends on what the text says.

Theory: T19.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType, FrameType

from verifier.symbolic.bytecode import CALLS, FORMATS, OPERATORS, instruction_at, instructions

_LOADS = frozenset(
    {
        "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_GLOBAL",
        "LOAD_SMALL_INT", "PUSH_NULL",
    }
)  # fmt: skip
_MAKE_ONE = (
    frozenset({"BUILD_STRING", "CONVERT_VALUE", "LOAD_ATTR", "LOAD_METHOD"}) | FORMATS | OPERATORS | CALLS
)
"""Instructions that put one value in the place of those they take; a method is one that is two."""
_NO_VALUE = frozenset({"EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL"})
_HIDING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def end_of_statement(frame: FrameType) -> int | None:
    """The offset behind the statement that drops the text which is made right now; None where it may stay.

    The instructions up to there are one straight line, in which every value that is made of the text takes
    its place on the stack; the last one drops it.
    """
    code, current = frame.f_code, instruction_at(frame)
    if current.opname not in FORMATS and current.opname not in CALLS:
        return None
    own = instructions(code)
    depth, place = 0, -1  # of the stack behind the current instruction, and where in it the text is
    for position in range(own.index(current) + 1, len(own) - 1):
        one = own[position]
        if one.is_jump_target:
            return None
        if one.opname == "POP_TOP":
            return own[position + 1].offset if depth - 1 == place else None
        if one.opname not in _LOADS | _MAKE_ONE | _NO_VALUE:
            return None
        depth += dis.stack_effect(one.opcode, one.arg, jump=False)
        if one.opname in _MAKE_ONE:
            place = min(place, depth - 1)
    return None


def hides_parameters(code: CodeType) -> bool:
    """Whether what a function is called with is reached by other ways than the names of its parameters."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return bool(code.co_flags & (_HIDING | _LATER)) or not set(parameters).isdisjoint(code.co_cellvars)


def loads_text(frame: FrameType) -> bool:
    """Whether the next instruction loads a name of the function that has text."""
    one = instruction_at(frame)
    if "LOAD_FAST" not in one.opname and one.opname not in ("LOAD_DEREF", "LOAD_CLOSURE"):
        return False
    names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
    return any(isinstance(frame.f_locals.get(name), str) for name in names)
