"""``int(size)``, ``type(size)`` and ``print(size)`` in code of others: these calls are ours while it runs.

Code that writes ``int(size)`` would turn away a size that is as good as an int, and one that asks for
``type(size)`` has to be told ``int``. Nothing stands in for ``int`` itself, so that ``type(k) is int`` and
``isinstance`` mean what they always do: in the bytecode a load of the name for a call is told from any
other, and only that load gets another name. A function keeps its identity, attributes, globals and closure;
its code is exchanged while a run is under way and put back afterwards.

Theory: T19.
"""

from __future__ import annotations

import builtins
import dis
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from verifier.symbolic.size import Size

PREFIX = "_shardproof_"
_FOR_A_CALL = 1
"""The bit in the argument of LOAD_GLOBAL that says so; the name is in those above it."""


def as_integer(*values: Any, **options: Any) -> Any:
    """``int(...)``, which a size already is."""
    if len(values) != 1 or options:
        return int(*values, **options)
    (value,) = values
    if type(value) is Size:
        return value
    made = getattr(type(value), "__int__", None) or getattr(type(value), "__index__", None)
    if not isinstance(made, FunctionType):
        return int(value)
    found = made(value)
    return found if type(found) is Size else int(found)


def type_of(*values: Any, **options: Any) -> Any:
    """``type(...)``; that of a size is int."""
    if len(values) == 1 and not options and type(values[0]) is Size:
        return int
    return type(*values, **options)


def printing(stream: object) -> Callable[..., None]:
    """``print(...)``: what has a size among it is not written to ``stream``, the standard output."""

    def printed(*values: Any, **options: Any) -> None:
        told = any(type(value) is Size for value in values)
        if not told or options or sys.stdout is not stream:
            print(*values, **options)

    return printed


STAND_INS: dict[str, Callable[..., Any]] = {"int": as_integer, "type": type_of, "print": printing(None)}
"""By the name that is called."""


def rewritten(code: CodeType) -> CodeType:
    """The same code, that of nested functions included, with calls of the names above under other names.

    A load whose new name has no room in its instruction stays as it is.
    """
    consts = tuple([rewritten(one) if isinstance(one, CodeType) else one for one in code.co_consts])
    names, raw = list(code.co_names), bytearray(code.co_code)
    for instruction in dis.get_instructions(code):
        name = _called(code, instruction)
        if name is None or instruction.arg is None:
            continue
        if PREFIX + name not in names:
            names.append(PREFIX + name)
        argument = names.index(PREFIX + name) << 1 | _FOR_A_CALL
        if argument >> 8 == instruction.arg >> 8:  # what EXTENDED_ARG before it says
            raw[instruction.offset + 1] = argument & 0xFF
    if bytes(raw) == code.co_code and consts == code.co_consts:
        return code
    return code.replace(co_code=bytes(raw), co_names=tuple(names), co_consts=consts)


def _called(code: CodeType, instruction: dis.Instruction) -> str | None:
    """The name of a stand-in that an instruction loads for a call."""
    if instruction.opname != "LOAD_GLOBAL" or not (instruction.arg or 0) & _FOR_A_CALL:
        return None
    name = code.co_names[(instruction.arg or 0) >> 1]
    return name if name in STAND_INS else None


class Rewriting:
    """Functions whose code is exchanged during runs. New ones are found as they are called."""

    def __init__(self) -> None:
        self._exchanged: dict[int, tuple[FunctionType, CodeType, CodeType]] = {}
        self._new: dict[int, CodeType] = {}
        self._known: dict[int, CodeType] = {}
        self._functions: dict[int, FunctionType] = {}
        self._made: dict[int, CodeType] = {}

    def note(self, code: CodeType) -> None:
        """Code that a run has come to."""
        if id(code) not in self._made and id(code) not in self._known:
            self._new[id(code)] = code

    @property
    def functions(self) -> list[FunctionType]:
        """Those that runs have come to so far."""
        return list(self._functions.values())

    def prepare(self) -> bool:
        """Take in the functions whose code runs have come to; False where there were none."""
        codes = list(self._new.values())
        self._new.clear()
        found = [one for one in gc.get_referrers(*codes) if isinstance(one, FunctionType)] if codes else []
        for function in found:
            self._functions[id(function)] = function
            self._take(function)
        self._known.update((id(code), code) for code in codes)
        return bool(found)

    @contextmanager
    def exchanged(self) -> Iterator[None]:
        """The functions have their rewritten code in this context."""
        for name, stand_in in {**STAND_INS, "print": printing(sys.stdout)}.items():
            setattr(builtins, PREFIX + name, stand_in)
        for function, _, new in self._exchanged.values():
            function.__code__ = new
        try:
            yield
        finally:
            for function, old, _ in self._exchanged.values():
                function.__code__ = old
            for name in STAND_INS:
                delattr(builtins, PREFIX + name)

    def _take(self, function: FunctionType) -> None:
        if id(function) in self._exchanged or any(name in function.__globals__ for name in STAND_INS):
            return  # it has another int
        new = rewritten(function.__code__)
        if new is function.__code__:
            return
        for code in _nested(new):
            self._made[id(code)] = code
        self._exchanged[id(function)] = function, function.__code__, new


def _nested(code: CodeType) -> Iterable[CodeType]:
    """The code and that of all functions inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _nested(one)
