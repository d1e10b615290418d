"""Watching a run on symbolic sizes: it may do nothing of which a size would not notice that it is none.

Every function that is called is looked at once (``fragment``); every function in C that is called must be one
that uses values as Python does; every exception must be raised by a statement, by a size, or be one that C
code raises for other reasons than the type of a value. What turns a size into text is followed from there on
(``texts``).

Theory: T19.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from verifier.symbolic.bytecode import instruction_at
from verifier.symbolic.fragment import outside, uses_values
from verifier.symbolic.outliving import Outliving
from verifier.symbolic.owners import owner_of
from verifier.symbolic.rewriting import Rewriting
from verifier.symbolic.texts import Texts

Trace = Callable[[FrameType, str, Any], Any]

INNOCENT = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    StopIteration,
    ValueError,
    GeneratorExit,
)
"""Exceptions that C code raises for what values say; it asks sizes for that. Not OverflowError, see below."""
TELLING = (OverflowError, UnicodeError)
"""Among them, those about how a value is stored."""
_STATEMENTS = {"RAISE_VARARGS", "RERAISE"}


class Watch:
    """One run that is watched; ``leave`` is told the first thing that is not allowed."""

    def __init__(self, leave: Callable[[str], None], rewriting: Rewriting) -> None:
        self.texts = Texts(leave)
        self.outliving = Outliving()
        self._running = self._is_paused = False
        self._leave = leave
        self._rewriting = rewriting
        self._seen: dict[int, object] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch this thread; whoever else traces it, a debugger say, does not see this part."""
        profiler: Any = sys.getprofile()
        before = sys.gettrace(), profiler, gc.isenabled()
        if profiler is not None and not callable(profiler):
            self._leave("a profiler is active that cannot be put back")
            yield
            return
        self._running = True
        for function in self._rewriting.functions:
            self.outliving.note_function(function)
        gc.disable()  # what others do as it runs is not done by the code
        self._follow()
        try:
            yield
        finally:
            self._require_followed()
            self._running = False
            sys.settrace(before[0])
            sys.setprofile(before[1])
            if before[2]:
                gc.enable()
            changed = self.outliving.restored()
            if changed is not None:
                self._leave(f"it changes {changed}, which outlives the call")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Not what we do ourselves, which is much and calls solvers."""
        if not self._running or self._is_paused:
            yield
            return
        self._require_followed()
        self._is_paused = True
        sys.settrace(None)
        sys.setprofile(None)
        try:
            yield
        finally:
            self._is_paused = False
            self._follow()

    def _require_followed(self) -> None:
        """Python stops to follow where what follows fails, as at the end of the stack."""
        if sys.gettrace() != self._called or sys.getprofile() != self._profiled:
            self._leave("a part of the run that could not be watched")

    def _follow(self) -> None:
        sys.setprofile(self._profiled)
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, _: Any) -> Trace | None:
        """A function of Python is called."""
        code = frame.f_code
        owner = owner_of(code)
        if owner == "foreign" and _is_called_by_users(frame):
            self._leave(f"it calls {code.co_name} of {frame.f_globals.get('__name__', 'a module')}")
        if owner != "users":
            return None
        if id(code) not in self._seen:
            self._seen[id(code)] = code
            self._rewriting.note(code)
            self.outliving.note_globals(frame)
            reason = outside(code, frame.f_globals)
            if reason is not None:
                self._leave(reason)
        frame.f_trace_lines = False
        self.texts.entered(frame)
        return self._traced

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Trace:
        if event == "exception":
            self._raised(frame, *argument)
        elif event == "opcode":
            self.texts.step(frame)
        return self._traced

    def _raised(self, frame: FrameType, kind: type, error: object, traceback: TracebackType | None) -> None:
        """An exception arrives in a frame: where does it come from?"""
        self.texts.raised(frame)
        if traceback is None:
            return
        if traceback.tb_next is not None:  # of a frame that was looked at by itself, if it is of users
            if self.texts.told and owner_of(traceback.tb_next.tb_frame.f_code) != "users":
                self._leave(f"a {kind.__name__} about text")
            return
        if instruction_at(frame).opname in _STATEMENTS:
            return
        if self.texts.told or not issubclass(kind, INNOCENT) or issubclass(kind, TELLING):
            self._leave(f"a {kind.__name__} that no statement raises: {error}")

    def _profiled(self, frame: FrameType, event: str, function: Any) -> None:
        """A function in C is called."""
        if event != "c_call" or owner_of(frame.f_code) != "users":
            return
        if not uses_values(function):
            self._leave(f"a call of {_name(function)}, which may look at how a value is stored")
        else:
            self.texts.c_call(frame, function)


def _is_called_by_users(frame: FrameType) -> bool:
    """Whether the nearest caller that is not of the standard library is code of users."""
    caller = frame.f_back
    while caller is not None:
        owner = owner_of(caller.f_code)
        if owner in ("ours", "users"):
            return owner == "users"
        caller = caller.f_back
    return False


def _name(function: Any) -> str:
    owner = getattr(function, "__self__", None)
    kind = getattr(owner, "__name__", type(owner).__name__)
    name = getattr(function, "__name__", "a function in C")
    return str(name) if kind == "builtins" else f"{kind}.{name}"
