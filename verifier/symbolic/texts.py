"""Text of sizes: whether it goes into the message of an exception and nowhere else.

The text of a size is another one than that of the number, so code that looks at it goes another way. From
the moment such text is made every instruction is followed, in all functions under way: they may put text
together, call what makes exceptions of it, raise, and pass exceptions on or replace them. None of these
depends on what the text says, so the code raises the same exception whatever the number, but for its words.

Theory: T19.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable
from inspect import getattr_static
from types import FrameType, FunctionType
from typing import Any

from verifier.symbolic.bytecode import CALLS, base_of, before, callee_of, instruction_at
from verifier.symbolic.owners import owner_of

FROM_THE_START = sys.version_info >= (3, 12)
"""Whether instructions have to be followed from the call of a function on; else from any moment."""

HARMLESS = frozenset(
    {
        "BINARY_OP", "BUILD_LIST", "BUILD_STRING", "BUILD_TUPLE", "CACHE", "CALL_INTRINSIC_1",
        "CHECK_EXC_MATCH", "CONVERT_VALUE", "COPY", "COPY_FREE_VARS", "DELETE_FAST", "END_FOR",
        "EXTENDED_ARG", "FORMAT_SIMPLE", "FOR_ITER", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT",
        "JUMP_FORWARD", "POP_ITER",
        "FORMAT_VALUE", "FORMAT_WITH_SPEC", "GET_ITER", "KW_NAMES", "LIST_APPEND", "LIST_EXTEND",
        "LIST_TO_TUPLE", "LOAD_ASSERTION_ERROR", "LOAD_ATTR", "LOAD_CLOSURE", "LOAD_COMMON_CONSTANT",
        "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_BORROW",
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST", "LOAD_GLOBAL",
        "LOAD_METHOD", "LOAD_NAME", "LOAD_SMALL_INT", "LOAD_SUPER_ATTR", "MAKE_CELL", "MAKE_FUNCTION", "NOP",
        "NOT_TAKEN", "POP_EXCEPT", "POP_TOP", "PRECALL", "PUSH_EXC_INFO", "PUSH_NULL", "RAISE_VARARGS",
        "RERAISE", "RESUME", "RETURN_CONST", "RETURN_GENERATOR", "RETURN_VALUE", "STORE_ATTR", "STORE_FAST",
        "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "SWAP", "YIELD_VALUE",
    }
)  # fmt: skip
"""Instructions that do the same whatever a text says."""
_LOOPS = ("FOR_ITER", "GET_ITER")
"""Those of a comprehension put text together; any other may go around once for each character."""
TEXT_METHODS = frozenset(
    {"format", "join", "ljust", "rjust", "center", "title", "capitalize", "upper", "lower"}
)
TEXT_FUNCTIONS = (str, repr, format, ascii)
_HEAP = 1 << 9
"""The flag of a class that is made while a program runs, as by a class statement."""
_MATCHED = ("POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_IF_FALSE")


class Texts:
    """What becomes of the text of sizes in one run."""

    def __init__(self, leave: Callable[[str], None]) -> None:
        self.told = False
        self._leave = leave

    def entered(self, frame: FrameType) -> None:
        """A function of users is called."""
        if self.told or FROM_THE_START:
            frame.f_trace_opcodes = True

    def tell(self) -> None:
        """The text of a size was made, by whatever is under way."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_trace is not None and owner_of(frame.f_code) == "users":
                self.told = True
                if not FROM_THE_START:
                    frame.f_trace_opcodes = True
                self._judge(frame, under_way=True)
            frame = frame.f_back

    def forget(self) -> None:
        """Nobody looks any more at what was made so far."""
        self.told = False

    def step(self, frame: FrameType) -> None:
        """An instruction is about to run."""
        if self.told:
            self._judge(frame, under_way=False)

    def c_call(self, function: Any) -> None:
        """A function in C is called; of those, few do the same with every text."""
        if not self.told or function in (*TEXT_FUNCTIONS, len, sum):
            return
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str) and function.__name__ in TEXT_METHODS:
            return
        if function.__name__ == "__build_class__" or isinstance(owner, super):
            return
        self._seen()

    def _judge(self, frame: FrameType, *, under_way: bool) -> None:
        one = instruction_at(frame)
        if one.opname in CALLS or one.opname == "PRECALL":
            if not makes_text(frame, one):
                self._seen()
        elif one.opname in _LOOPS and not frame.f_code.co_name.startswith("<"):
            self._seen()
        elif one.opname in _MATCHED and before(frame.f_code, one)[-1].opname == "CHECK_EXC_MATCH":
            return
        elif one.opname not in HARMLESS and not under_way:
            self._seen()

    def _seen(self) -> None:
        self._leave("the text of a size, as in str(size) or a name with it: it may decide what is built")


def makes_text(frame: FrameType, call: dis.Instruction) -> bool:
    """Whether what is called makes text or an exception of it, or is a function that is followed.

    That is a class of exceptions, a function or class of Python, or a method of text.
    """
    callee = callee_of(frame.f_code, call)
    if callee is None:
        return False
    if callee.opname not in ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR"):
        return _is_maker(_value(frame, callee))
    name = str(callee.argval)
    if name in TEXT_METHODS or name == "__init__":
        return True
    base = base_of(frame.f_code, callee)
    owner = None if base is None else _value(frame, base)
    return owner is not None and _is_maker(_member(owner, name))


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
    return isinstance(value, FunctionType) or value in TEXT_FUNCTIONS


def _is_exception(value: type) -> bool:
    return issubclass(value, BaseException) and type(value) is type


def _value(frame: FrameType, load: dis.Instruction) -> object:
    """What an instruction loads by a name, None where it loads no name."""
    name = str(load.argval)
    match load.opname:
        case "LOAD_GLOBAL" | "LOAD_NAME":
            return frame.f_globals.get(name, getattr(builtins, name, None))
        case "LOAD_FAST" | "LOAD_DEREF" | "LOAD_FAST_BORROW":
            return frame.f_locals.get(name)
        case "LOAD_ASSERTION_ERROR" | "LOAD_COMMON_CONSTANT":
            return AssertionError
    return None
