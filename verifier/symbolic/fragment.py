"""What code may do with values that may be sizes, by its instructions and the C functions it calls.

A size answers what a number would wherever Python asks it. These are the ways not to ask: identity, names
with two underscores that reach the methods of ``int`` itself, ``type`` as a value, and functions in C that
look at the object instead of using it. Whatever is not listed as harmless leaves the fragment.

Theory: T19.
"""

from __future__ import annotations

import builtins
import dis
import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any

from verifier.symbolic.bytecode import CALLS, base_of, before, callee_of, instructions
from verifier.symbolic.rewriting import PREFIX, STAND_INS

DUNDERS = frozenset(
    {
        "__class__",
        "__dict__",
        "__file__",
        "__init__",
        "__name__",
        "__post_init__",
        "__qualname__",
        "__setattr__",
        "__annotations__",
    }
)
"""Names with two underscores that say nothing of a number, or what a size says as well."""

FUNCTIONS: Mapping[str, frozenset[str] | None] = {
    "builtins": frozenset(
        {
            "__build_class__", "abs", "all", "any", "ascii", "callable", "chr", "delattr", "divmod", "format",
            "getattr", "hasattr", "hash", "isinstance", "issubclass", "iter", "len", "max", "min", "next",
            "ord", "pow", "print", "repr", "round", "setattr", "sorted", "sum",
        }
    ),
    "math": None,
    "itertools": None,
    "_operator": frozenset(
        {
            "abs", "add", "and_", "concat", "contains", "countOf", "delitem", "eq", "floordiv", "ge",
            "getitem", "gt", "iadd", "imul", "indexOf", "isub", "le", "lt", "mod", "mul", "ne", "neg", "not_",
            "pos", "pow", "setitem", "sub", "truth",
        }
    ),
    "_bisect": None,
    "_heapq": None,
    "_functools": None,
    "_collections": None,
    "_abc": None,
}  # fmt: skip
"""Functions of modules in C that use a value as Python does; None for all of a module."""

METHODS_OF = (list, tuple, dict, set, frozenset, str, bytes, int, bool, float, range, slice, type(None))
"""Types whose own methods do so as well."""
_EMPTY: dict[object, object] = {}
VIEWS = tuple([type(view) for view in (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())])

OWN_NAMES = frozenset([PREFIX + name for name in STAND_INS])
_PLAIN_LOADS = {"LOAD_GLOBAL", "LOAD_NAME"}
_LOADS = _PLAIN_LOADS | {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "IMPORT_FROM"}
_NUMBERS = (int, float, complex)
_CONSTANTS = {"LOAD_CONST", "RETURN_CONST"}
FRAMES = frozenset(
    {
        "ag_frame", "cr_frame", "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace",
        "gi_frame", "tb_frame", "tb_next",
    }
)  # fmt: skip
"""Names that lead to what runs."""
_HIDDEN = re.compile(rf"__\w+?__|{PREFIX}\w+|\b(?:{'|'.join(sorted(FRAMES))})\b")
"""Names in texts: getattr and format reach what they name."""


def outside(code: CodeType, scope: Mapping[str, Any]) -> str | None:
    """Why code of a function with these globals leaves the fragment; None where it does not."""
    return next(_outside(code, scope), None)


def _outside(code: CodeType, scope: Mapping[str, Any]) -> Iterator[str]:
    for one in instructions(code):
        where = f"in {code.co_name}" + (f", line {line}" if (line := _line(one)) else "")
        if one.opname in _LOADS:
            name = str(one.argval)
            if _is_hidden(name):
                yield f"{name} {where}"
            elif one.opname in _PLAIN_LOADS and _is_value(code, one, scope):
                yield f"{name} as a value {where}"
            elif _is_telling(_loaded(code, one, scope)):
                yield f"{name}, which may look at how a value is stored, {where}"
        elif one.opname in _CONSTANTS:
            yield from [f"{name} {where}" for name in _named(one.argval)]
        if one.opname in ("STORE_ATTR", "DELETE_ATTR") and _is_kept_by_others(code, one, scope):
            yield f"the attribute {one.argval}, which outlives the call, {where}"
        elif one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            yield f"the global {one.argval}, which outlives the call, {where}"
        elif one.opname == "STORE_DEREF" and one.argval in code.co_freevars:
            yield f"{one.argval} of an outer function, which may outlive the call, {where}"
        elif one.opname == "IS_OP" and not _is_safe(code, one, scope):
            yield f"a comparison by identity {where}"


def _is_kept_by_others(code: CodeType, store: dis.Instruction, scope: Mapping[str, Any]) -> bool:
    """Whether an attribute of a module is changed, or what makes an object what it is."""
    name = str(store.argval)
    if name.startswith("__") and name.endswith("__"):
        return True
    base = base_of(code, store)
    return base is not None and isinstance(_loaded(code, base, scope), ModuleType)


def _named(constant: object) -> list[str]:
    """The hidden names in a text, or in the texts of a tuple."""
    parts = constant if isinstance(constant, tuple) else (constant,)
    return [name for part in parts if isinstance(part, str) for name in _HIDDEN.findall(part)]


def _is_value(code: CodeType, load: dis.Instruction, scope: Mapping[str, Any]) -> bool:
    """Whether ``type``, which tells a size from a number, is more than a class that isinstance asks for."""
    found = _resolved(str(load.argval), scope)
    if found is not type:
        return found is builtins
    behind = [one for one in instructions(code) if one.offset > load.offset and one.opname != "PRECALL"]
    callee = callee_of(code, behind[0]) if behind and behind[0].opname in CALLS else None
    return callee is None or _resolved(str(callee.argval), scope) not in (isinstance, issubclass)


def _loaded(code: CodeType, load: dis.Instruction, scope: Mapping[str, Any]) -> object:
    """What a name is, or an attribute of a module with a name."""
    if load.opname in _PLAIN_LOADS:
        return _resolved(str(load.argval), scope)
    base = base_of(code, load)
    owner = None if base is None or base.opname not in _PLAIN_LOADS else _resolved(str(base.argval), scope)
    return getattr(owner, str(load.argval), None) if isinstance(owner, ModuleType) else None


def _is_telling(value: object) -> bool:
    """Whether it is a function in C that is not known to be harmless, called here or handed on."""
    while isinstance(value, partial):
        value = value.func
    return isinstance(value, BuiltinFunctionType) and not uses_values(value)


def _is_hidden(name: str) -> bool:
    """Whether a name reaches what a size has and a number has not, or what only a number has."""
    if name in OWN_NAMES or name in DUNDERS:
        return False
    return name in FRAMES or name.startswith(PREFIX) or (name.startswith("__") and name.endswith("__"))


def _is_safe(code: CodeType, comparison: dis.Instruction, scope: Mapping[str, Any]) -> bool:
    """Whether the right side of ``is`` is known not to be a number: then no size is it either."""
    earlier = before(code, comparison)
    last = earlier[-1]
    if comparison.is_jump_target or last.is_jump_target:  # then the right side is one of several
        return False
    match last.opname:
        case "LOAD_CONST":
            return not isinstance(last.argval, _NUMBERS) or isinstance(last.argval, bool)
        case "LOAD_GLOBAL" | "LOAD_NAME":
            found = _resolved(str(last.argval), scope)
            if found is int:
                return _is_type_of(code, earlier[-2])
            return not isinstance(found, (*_NUMBERS, _Unknown))
        case "LOAD_ATTR" if last.argval == "__class__":
            return True
        case "LOAD_ATTR" if earlier[-2].opname in _PLAIN_LOADS:
            owner = _resolved(str(earlier[-2].argval), scope)
            if not isinstance(owner, type | ModuleType):
                return False
            found = getattr(owner, str(last.argval), _Unknown())
            return type(found) not in (*_NUMBERS, _Unknown)
        case "CALL":
            return _is_type_of(code, last)
    return False


def _is_type_of(code: CodeType, one: dis.Instruction) -> bool:
    """Whether an instruction finds out the type of a value in a way that gives int for a size."""
    if one.opname == "LOAD_ATTR":
        return bool(one.argval == "__class__")
    callee = callee_of(code, one) if one.opname in CALLS else None
    return callee is not None and callee.argval == PREFIX + "type"


class _Unknown:
    pass


def _resolved(name: str, scope: Mapping[str, Any]) -> object:
    return scope[name] if name in scope else getattr(builtins, name, _Unknown())


def _line(instruction: dis.Instruction) -> int | None:
    return None if instruction.positions is None else instruction.positions.lineno


def uses_values(function: object) -> bool:
    """Whether a function in C is known to use its arguments as Python does."""
    if not isinstance(function, BuiltinFunctionType):
        return False
    owner = function.__self__
    if isinstance(owner, ModuleType):
        known = FUNCTIONS.get(owner.__name__, frozenset())
        return known is None or function.__name__ in known
    if isinstance(owner, type):  # dict.fromkeys, and object.__init_subclass__ of a class statement
        harmless = owner in METHODS_OF or owner.__module__ == "itertools"
        return harmless or function.__name__ in ("__init_subclass__", "__subclasshook__")
    return isinstance(owner, (*METHODS_OF, *VIEWS, deque)) or type(owner) is type(_generator())


def _generator() -> Iterator[None]:
    yield
