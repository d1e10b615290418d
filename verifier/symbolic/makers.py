"""What is called in code that has the text of a size: whether it makes text, exceptions of text, or neither.

What is called is read from the instructions that load it, and nothing runs for it.

Theory: T19.
"""

from __future__ import annotations

import builtins
import dis
from inspect import getattr_static
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TypeGuard

from verifier.symbolic.bytecode import (
    CALLS,
    FORMATS,
    OPERATORS,
    arguments_of,
    base_of,
    before,
    callee_of,
    instruction_at,
    is_member_of_name,
    leading,
    reads_names,
)
from verifier.symbolic.owners import is_of_users, owner_of

TEXT_METHODS = frozenset(
    {"format", "join", "ljust", "rjust", "center", "title", "capitalize", "upper", "lower"}
)
TEXT_FUNCTIONS = (str, repr, format, ascii)
_MEMBERS = ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR")
_PLAIN_LOOKUPS = (object.__getattribute__, type.__getattribute__, ModuleType.__getattribute__)


def is_text_alone(frame: FrameType) -> bool:
    """Whether all that the instruction under way makes is text."""
    one = instruction_at(frame)
    return one.opname in FORMATS or _is_text(frame, one)


def keeps_apart(frame: FrameType, one: dis.Instruction) -> bool:
    """Whether an instruction of a statement that drops text makes nothing but text of text.

    What it makes of anything else has no text in it.
    """
    code = frame.f_code
    if one.opname in CALLS:
        return _is_text(frame, one) or called_function(frame, one) is not None
    if one.opname in FORMATS:
        return has_plain_spec(code, one)
    if one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return _is_format_of_constant(code, one) or is_member_of_name(code, one)
    if one.opname in OPERATORS:
        return reads_names(code, one) or _is_text(frame, one)
    return True


def called_function(frame: FrameType, call: dis.Instruction) -> FunctionType | None:
    """The function of users that a call calls, if the instructions that load it still say what it is."""
    value = _called(frame, call)
    return value if _is_function_of_users(value) else None


def has_plain_spec(code: CodeType, one: dis.Instruction) -> bool:
    """Whether a value is formatted as a constant says: a width that is a size may be too large."""
    with_spec = one.opname == "FORMAT_WITH_SPEC" or (one.opname == "FORMAT_VALUE" and (one.arg or 0) & 4)
    return not with_spec or before(code, one)[-1].opname == "LOAD_CONST"


def _is_text(frame: FrameType, one: dis.Instruction) -> bool:
    """Whether what an instruction makes is text for certain, and nothing else gets hold of its parts."""
    code = frame.f_code
    if one.opname == "LOAD_CONST":
        return isinstance(one.argval, str)
    if one.opname == "BINARY_OP" and one.argrepr == "+":
        left = leading(code, one)
        return bool(left) and _is_text(frame, left[-1]) and _is_text(frame, before(code, one)[-1])
    if one.opname in CALLS:
        callee = callee_of(code, one)
        if callee is None:
            return False
        return _is_format_of_constant(code, callee) or _is_text_function(_value(frame, callee))
    return one.opname in FORMATS or one.opname == "BUILD_STRING"


def _is_format_of_constant(code: CodeType, attribute: dis.Instruction) -> bool:
    """Whether it is ``"{} rows".format``: a template that is made of text reaches what its text says."""
    base = base_of(code, attribute) if attribute.opname in _MEMBERS else None
    return attribute.argval == "format" and base is not None and base.opname == "LOAD_CONST"


def makes_text(frame: FrameType, call: dis.Instruction) -> bool:
    """Whether what is called makes text or an exception of it, or is a function that is followed.

    That is a class of exceptions, a function or class of users, or a method of text.
    """
    callee = callee_of(frame.f_code, call)
    if callee is None:
        return False
    if callee.opname in _MEMBERS and callee.argval == "join":
        return _joins_plainly(frame, call)
    if callee.opname in _MEMBERS and callee.argval == "format":
        return _is_format_of_constant(frame.f_code, callee)
    if callee.opname in _MEMBERS and (callee.argval in TEXT_METHODS or callee.argval == "__init__"):
        return True
    return _is_maker(_called(frame, call))


def _joins_plainly(frame: FrameType, call: dis.Instruction) -> bool:
    """Whether texts are joined of a list, a comprehension or ``map(str, ...)``.

    An iterator in C may call others in its own name.
    """
    code = frame.f_code
    last = arguments_of(code, call)[-1]
    if last.opname in ("BUILD_LIST", "BUILD_TUPLE", "LIST_APPEND", "LIST_EXTEND", "LIST_TO_TUPLE"):
        return True
    if last.opname in CALLS:
        inner = arguments_of(code, last)
        callee = callee_of(code, last)
        if inner and inner[-1].opname == "GET_ITER":  # a comprehension, whose own function is followed
            return True
        if callee is None or _value(frame, callee) is not map:
            return False
        first = next((one for one in inner if one.offset > callee.offset and one.opname != "PUSH_NULL"), None)
        return first is not None and _is_text_function(_value(frame, first))
    return type(_value(frame, last)) in (list, tuple)


def _called(frame: FrameType, call: dis.Instruction) -> object:
    """What a call calls, None where nothing is known of it."""
    callee = callee_of(frame.f_code, call)
    if callee is None or callee.opname not in _MEMBERS:
        return None if callee is None else _value(frame, callee)
    base = base_of(frame.f_code, callee)
    owner = None if base is None else _value(frame, base)
    return None if owner is None else _member(owner, str(callee.argval))


def _member(owner: object, name: str) -> object:
    """What an attribute is, without running anything for it; None where code of others says what it is."""
    if type(owner).__getattribute__ not in _PLAIN_LOOKUPS:
        return None
    found = getattr_static(owner, name, None)
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found


def _is_maker(value: object) -> bool:
    if isinstance(value, type):
        if value in (str, super) or _is_exception(value):
            return True
        made: object = value.__new__
        is_plain = made is object.__new__ or isinstance(made, FunctionType)
        return is_of_users(value) and type(value) is type and is_plain
    return _is_function_of_users(value) or _is_text_function(value)


def _is_function_of_users(value: object) -> TypeGuard[FunctionType]:
    return isinstance(value, FunctionType) and owner_of(value.__code__) == "users"


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
