"""A precondition as text: ``sum(widths) == rows and rows % 2 == 0``.

The text is parsed, checked and interpreted; nothing of it is handed to ``eval``. Its comparisons are traced
like those of a predicate in Python, so it may be as long as it likes and stays a statement about all sizes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

MOST_CHARACTERS = 2_000
FUNCTIONS: Mapping[str, Callable[..., Any]] = {"sum": sum, "min": min, "max": max, "len": len}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ALLOWED = "sums, differences, products, // and %, comparisons, and/or/not, sum, min, max, len and subscripts"


class TextError(ValueError):
    """A text of the user's that says nothing the gate understands.

    Attributes:
        column: where, from 1 on; None where it is about the whole text.
    """

    def __init__(self, what: str, column: int | None, reason: str) -> None:
        at = "" if column is None else f", column {column}"
        super().__init__(f"{what}{at}: {reason}")
        self.column = column


@dataclass(frozen=True, slots=True)
class Predicate:
    """A precondition; called with the arguments that it names."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]

    @property
    def __signature__(self) -> Signature:
        """The names it asks for, which is how a domain knows what to hand over."""
        return Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in self.names])

    def __call__(self, **arguments: object) -> object:
        """The value of the expression for these arguments."""
        return _value(self.tree, arguments)


def predicate(text: str) -> Predicate:
    """The precondition that a text states.

    Raises:
        TextError: it is no such expression; at which column, and what is allowed.
    """
    tree, shift = parsed("where", text)
    names: dict[str, None] = {}
    try:
        _check(tree, names, shift)
    except RecursionError:
        raise TextError("where", None, "is nested too deeply; write it flat") from None
    return Predicate(text, tree, tuple(names))


def parsed(what: str, text: str, before: str = "", after: str = "") -> tuple[ast.expr, int]:
    """The tree of an expression, and how many characters its columns are off.

    Raises:
        TextError: it is too long, or no expression.
    """
    if len(text) > MOST_CHARACTERS:
        raise TextError(what, None, f"is longer than {MOST_CHARACTERS} characters")
    if not text.strip():
        raise TextError(what, None, "is empty; leave it out")
    line = before + text.replace("\n", " ").lstrip() + after
    shift = len(text) - len(text.lstrip()) - len(before)
    try:
        return ast.parse(line, mode="eval").body, shift
    except SyntaxError as error:
        at = error.offset if error.lineno == 1 and error.offset else len(line) + 1  # else it ends too early
        column = min(max(1, at + shift), len(text) + 1)
        raise TextError(what, column, f"is no expression: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise TextError(what, None, f"is no expression: {error}") from None


def _check(node: ast.expr, names: dict[str, None], shift: int) -> None:
    """Walk an expression, note its names, refuse what is not allowed."""

    def refused(reason: str) -> TextError:
        return TextError("where", node.col_offset + 1 + shift, reason)

    match node:
        case ast.Constant(value) if isinstance(value, int):
            return
        case ast.Name(name):
            if name in FUNCTIONS:
                raise refused(f"{name} is a function; call it")
            names[name] = None
            return
        case ast.BinOp(left, kind, right) if type(kind) in _BINARY:
            inside = [left, right]
        case ast.UnaryOp(kind, operand) if type(kind) in _UNARY:
            inside = [operand]
        case ast.BoolOp(_, values):
            inside = values
        case ast.Compare(left, kinds, others) if all(type(kind) in _COMPARE for kind in kinds):
            inside = [one for one in (left, *others) if not _is_text(one)]
        case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS and arguments:
            inside = arguments
        case ast.Call(function):
            raise refused(f"{shown(function)} is called; only sum, min, max and len may be, without keywords")
        case ast.Subscript(value, ast.Slice(low, high, None)):
            inside = [value, *filter(None, (low, high))]
        case ast.Subscript(value, index) if not isinstance(index, ast.Slice):
            inside = [value, index]
        case _:
            raise refused(f"{shown(node)} is not allowed; only {_ALLOWED}")
    for one in inside:
        _check(one, names, shift)


def _is_text(node: ast.expr) -> bool:
    """A text may be compared with, and nothing else."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def shown(node: ast.expr) -> str:
    """An expression as written, cut where it is long."""
    text = ast.unparse(node)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a checked expression."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return names[name]
        case ast.BinOp(left, kind, right):
            return _BINARY[type(kind)](_value(left, names), _value(right, names))
        case ast.UnaryOp(kind, operand):
            return _UNARY[type(kind)](_value(operand, names))
        case ast.BoolOp(kind, values):
            return _decided(values, names, stop=isinstance(kind, ast.Or))
        case ast.Compare(left, kinds, others):
            return _compared(left, kinds, others, names)
        case ast.Call(ast.Name(name), arguments):
            return FUNCTIONS[name](*[_value(one, names) for one in arguments])
        case ast.Subscript(value, ast.Slice(low, high)):
            bounds = [None if one is None else _value(one, names) for one in (low, high)]
            return _value(value, names)[slice(*bounds)]
        case ast.Subscript(value, index):
            return _value(value, names)[_value(index, names)]
    raise AssertionError(ast.dump(node))


def _decided(values: list[ast.expr], names: Mapping[str, Any], *, stop: bool) -> Any:
    """``and`` and ``or``: the value of the part that decides, as in Python; later ones are not looked at."""
    *earlier, last = values
    for one in earlier:
        value = _value(one, names)
        if bool(value) is stop:
            return value
    return _value(last, names)


def _compared(
    left: ast.expr, kinds: list[ast.cmpop], others: list[ast.expr], names: Mapping[str, Any]
) -> bool:
    """``a < b <= c``, each comparison in turn."""
    here = _value(left, names)
    for kind, other in zip(kinds, others, strict=True):
        there = _value(other, names)
        if not _COMPARE[type(kind)](here, there):
            return False
        here = there
    return True
