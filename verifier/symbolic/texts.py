"""Text of sizes: whether it goes into the message of an exception and nowhere else.

The text of a size is another one than that of the number, so code that looks at it goes another way. From
the moment such text is made every instruction is followed, in all functions under way: they may put text
together, call what makes exceptions of it, raise, and pass exceptions on or replace them. None of these
depends on what the text says, so the code raises the same exception whatever the number, but for its words.
Text that its statement drops (``dropping``) is followed only while somebody could look at it.

Theory: T19.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType, GeneratorType
from typing import Any

from verifier.symbolic.bytecode import CALLS, FORMATS, before, instruction_at, reads_names
from verifier.symbolic.dropping import end_of_statement, hides_parameters, loads_text
from verifier.symbolic.makers import (
    TEXT_FUNCTIONS,
    TEXT_METHODS,
    called_function,
    has_plain_spec,
    is_text_alone,
    keeps_apart,
    makes_text,
)
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
_EMPTY: dict[object, object] = {}
_PARTS: tuple[Iterable[object], ...] = ((), [], set(), range(0), _EMPTY, _EMPTY.items(), _EMPTY.values())
_ITERATORS = (GeneratorType, *[type(iter(one)) for one in _PARTS])
"""Iterators that call nothing; those in C that do would not be seen at it."""
_STAYING = ("STORE", "DELETE", "RETURN", "YIELD", "RAISE", "RERAISE")
"""Beginnings of instructions after which a name may have what was made of text; after calls as well."""
_MATCHED = ("POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_IF_FALSE")


class Texts:
    """What becomes of the text of sizes in one run."""

    def __init__(self, leave: Callable[[str], None]) -> None:
        self.told = False
        self._leave = leave
        self._dropping: tuple[FrameType, int] | None = None
        self._no_name_has_text = False
        self._expected: CodeType | None = None

    def entered(self, frame: FrameType) -> None:
        """A function of users is called."""
        if self._is_called_with_text(frame):
            if frame.f_code is self._expected:
                self._expected = None
            if hides_parameters(frame.f_code):
                self._follow_all()
        if self.told or FROM_THE_START:
            frame.f_trace_opcodes = True
        self._no_name_has_text = False

    def tell(self) -> None:
        """The text of a size was made, by whatever is under way."""
        maker = next(_followed(sys._getframe(1)), None)
        if maker is None:
            return
        if not self.told:
            self._no_name_has_text = True
            end = end_of_statement(maker) if is_text_alone(maker) else None
            self._dropping = None if end is None else (maker, end)
        if self._dropping is None or self._dropping[0] is not maker:
            self._follow_all()
            return
        self.told = True
        if not FROM_THE_START:
            maker.f_trace_opcodes = True

    def raised(self, frame: FrameType) -> None:
        """An exception arrives in a function."""
        if self._dropping is not None and self._dropping[0] is frame:
            self._require_entered()
            self._follow_all()

    def _follow_all(self) -> None:
        """Follow every function under way, and those they call."""
        self._dropping = None
        for frame in _followed(sys._getframe(1)):
            self.told = True
            if not FROM_THE_START:
                frame.f_trace_opcodes = True
            self._judge(frame, under_way=True)

    def _is_called_with_text(self, frame: FrameType) -> bool:
        return self._dropping is not None and frame.f_back is self._dropping[0]

    def forget(self) -> None:
        """Nobody looks any more at what was made so far."""
        self.told, self._dropping = False, None

    def step(self, frame: FrameType) -> None:
        """An instruction is about to run."""
        if self._dropping is not None:
            self._step_before_dropping(frame, *self._dropping)
        if self.told and self._dropping is None:
            self._judge(frame, under_way=False)

    def _step_before_dropping(self, frame: FrameType, maker: FrameType, end: int) -> None:
        """Text is gone at the end of its statement; until then it is followed once something touches it."""
        one = instruction_at(frame)
        if frame is maker and one.offset == end:
            self._require_entered()
            self.forget()
        elif frame is maker:
            self._require_entered()
            if not keeps_apart(frame, one):
                self._follow_all()
            elif one.opname in CALLS:
                function = called_function(frame, one)
                self._expected = None if function is None else function.__code__
        elif self._is_called_with_text(frame) and loads_text(frame):
            self._follow_all()

    def _require_entered(self) -> None:
        """What is called with text was what the instructions said, and is followed."""
        if self._expected is not None:
            self._expected = None
            self._seen()

    def c_call(self, frame: FrameType, function: Any) -> None:
        """A function in C is called; of those, few do the same with every text."""
        if not self.told or function in (*TEXT_FUNCTIONS, len, sum):
            return
        if self._dropping is not None and self._dropping[0] is not frame:
            return
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str) and function.__name__ in TEXT_METHODS:
            return
        if function.__name__ == "__build_class__" or isinstance(owner, super):
            return
        self._seen()

    def _judge(self, frame: FrameType, *, under_way: bool) -> None:
        one = instruction_at(frame)
        mixes = one.opname == "BINARY_OP" and not reads_names(frame.f_code, one)
        if not under_way and (one.opname.startswith(_STAYING) or one.opname in CALLS or mixes):
            self._no_name_has_text = False
        if not self._is_fine(frame, one, under_way=under_way):
            self._seen()

    def _is_fine(self, frame: FrameType, one: dis.Instruction, *, under_way: bool) -> bool:
        """Whether an instruction does the same whatever the text says; one under way has made it."""
        if one.opname in CALLS or one.opname == "PRECALL":
            return makes_text(frame, one)
        if one.opname in FORMATS and not has_plain_spec(frame.f_code, one):
            return False
        if one.opname in _LOOPS:
            return frame.f_code.co_name.startswith("<") and type(frame.f_locals.get(".0")) in _ITERATORS
        if under_way or one.opname in HARMLESS:
            return True
        if one.opname in _MATCHED and before(frame.f_code, one)[-1].opname == "CHECK_EXC_MATCH":
            return True
        return self._no_name_has_text and reads_names(frame.f_code, one)

    def _seen(self) -> None:
        self._leave("the text of a size, as in str(size) or a name with it: it may decide what is built")


def _followed(frame: FrameType | None) -> Iterator[FrameType]:
    """The functions of users under way, from a frame outwards."""
    while frame is not None:
        if frame.f_trace is not None and owner_of(frame.f_code) == "users":
            yield frame
        frame = frame.f_back
