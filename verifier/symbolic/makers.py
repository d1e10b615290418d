"""What is called in code that has the text of a size: whether it makes text, exceptions of text, or neither.

What is called is read from the instructions that load it, and nothing runs for it.

Theory: T19.
"""

from __future__ import annotations

import builtins
import dis
from inspect import getattr_static
from types import FrameType, FunctionType

from verifier.symbolic.bytecode import (
    CALLS,
    FORMATS,
    OPERATORS,
    base_of,
    before,
    callee_of,
    instruction_at,
    is_member_of_name,
    leading,
    reads_names,
)
from verifier.symbolic.owners import owner_of

TEXT_METHODS = frozenset(
    {"format", "join", "ljust", "rjust", "center", "title", "capitalize", "upper", "lower"}
)
TEXT_FUNCTIONS = (str, repr, format, ascii)
_MEMBERS = ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR")
_HEAP = 1 << 9
"""The flag of a class that is made while a program runs, as by a class statement."""


def is_text_alone(frame: FrameType) -> bool:
    """Whether all that the instruction under way makes is text."""
    one = instruction_at(frame)
    if one.opname not in CALLS:
        return True
    callee = callee_of(frame.f_code, one)
    if callee is None or callee.opname not in _MEMBERS:
        return callee is not None and _is_text_function(_value(frame, callee))
    base = base_of(frame.f_code, callee)
    return callee.argval in TEXT_METHODS and base is not None and isinstance(_value(frame, base), str)


def _hands_on(frame: FrameType, call: dis.Instruction) -> bool:
    """Whether what is called makes text or an exception of text, or is a function of users."""
    if not makes_text(frame, call):
        return False
    callee, value = callee_of(frame.f_code, call), _called(frame, call)
    if callee is not None and callee.opname in _MEMBERS and callee.argval in TEXT_METHODS:
        return True
    if isinstance(value, FunctionType):
        return owner_of(value.__code__) == "users"
    return _is_text_function(value) or (isinstance(value, type) and _is_exception(value))


def keeps_apart(frame: FrameType, one: dis.Instruction) -> bool:
    """Whether an instruction of a statement that drops text makes text or an exception of what has text.

    What it makes of anything else has no text in it.
    """
    code = frame.f_code
    match one.opname:
        case "CALL" | "CALL_KW":
            return _hands_on(frame, one)
        case "BINARY_OP":
            return reads_names(code, one) or _is_text(frame, one)
        case "LOAD_ATTR" | "LOAD_METHOD":
            return one.argval in TEXT_METHODS or is_member_of_name(code, one)
    return one.opname not in OPERATORS or reads_names(code, one)


def _is_text(frame: FrameType, one: dis.Instruction) -> bool:
    """Whether what an instruction makes is text for certain."""
    match one.opname:
        case "LOAD_CONST":
            return isinstance(one.argval, str)
        case "BINARY_OP":
            left = leading(frame.f_code, one)
            return bool(left) and _is_text(frame, left[-1]) and _is_text(frame, before(frame.f_code, one)[-1])
        case "CALL":
            callee = callee_of(frame.f_code, one)
            return callee is not None and _is_text_function(_value(frame, callee))
    return one.opname in FORMATS or one.opname == "BUILD_STRING"


def makes_text(frame: FrameType, call: dis.Instruction) -> bool:
    """Whether what is called makes text or an exception of it, or is a function that is followed.

    That is a class of exceptions, a function or class of Python, or a method of text.
    """
    callee = callee_of(frame.f_code, call)
    if callee is None:
        return False
    if callee.opname in _MEMBERS and (callee.argval in TEXT_METHODS or callee.argval == "__init__"):
        return True
    return _is_maker(_called(frame, call))


def _called(frame: FrameType, call: dis.Instruction) -> object:
    """What a call calls, None where nothing is known of it."""
    callee = callee_of(frame.f_code, call)
    if callee is None or callee.opname not in _MEMBERS:
        return None if callee is None else _value(frame, callee)
    base = base_of(frame.f_code, callee)
    owner = None if base is None else _value(frame, base)
    return None if owner is None else _member(owner, str(callee.argval))


def _member(owner: object, name: str) -> object:
    """What an attribute is, without running anything for it."""
    found = getattr_static(owner, name, None)
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found


def _is_maker(value: object) -> bool:
    if isinstance(value, type):
        if value in (str, super) or _is_exception(value):
            return True
        made: object = value.__new__
        is_plain = made is object.__new__ or isinstance(made, FunctionType)
        return bool(value.__flags__ & _HEAP) and type(value) is type and is_plain
    return isinstance(value, FunctionType) or _is_text_function(value)


def _is_text_function(value: object) -> bool:
    return any(value is one for one in TEXT_FUNCTIONS)


def _is_exception(value: type) -> bool:
    return issubclass(value, BaseException) and type(value) is type


def _value(frame: FrameType, load: dis.Instruction) -> object:
    """What is loaded by a name, or as an attribute of what is; None where nothing is known."""
    name = str(load.argval)
    match load.opname:
        case "LOAD_GLOBAL" | "LOAD_NAME":
            return frame.f_globals.get(name, getattr(builtins, name, None))
        case "LOAD_FAST" | "LOAD_DEREF" | "LOAD_FAST_BORROW":
            return frame.f_locals.get(name)
        case "LOAD_CONST":
            return load.argval
        case "LOAD_ATTR" if is_member_of_name(frame.f_code, load):
            base = base_of(frame.f_code, load)
            return None if base is None else _member(_value(frame, base), name)
        case "LOAD_ASSERTION_ERROR" | "LOAD_COMMON_CONSTANT":
            return AssertionError
    return None
