"""A domain as text, on the command line or in pyproject.toml.

On the command line, keywords as of a call::

    rows=size, widths=sizes(ranks), ranks=1|2|4|8, shape=(size, size(least=1)), order='grouped'

In TOML, a table with the same values as texts; numbers, switches and lists may also be those of TOML::

    over = {rows = "size", widths = "sizes(ranks)", ranks = [1, 2, 4, 8], shape = ["size", "size"]}

``a | b | c`` and a list are a choice, ``(a, b)`` is a tuple, and so is a list with a ``size`` in it;
``fixed(value)`` hands a list or a dict over as it is. A text of which nothing is to be read stands in quotes:
in TOML ``order = "'grouped'"``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from verifier.gate.predicate import TextError, parsed, shown
from verifier.symbolic.domain import AnySize, DomainError, ManySizes, Sizes, fixed, size, sizes

FORMS = "write size, sizes(N), a value, (a, b), 1|2|4 or fixed(value); a text stands in quotes"
MOST_CHOICES = 4_096


def domain_of_text(text: str, where: Callable[..., object] | None) -> Sizes:
    """The domain that a text of the command line describes.

    Raises:
        TextError: it is none; at which column.
        DomainError: it describes no sizes.
    """
    tree, shift = parsed("over", text, "f(", ")")
    if not isinstance(tree, ast.Call) or tree.args or not tree.keywords or _has_stars(tree):
        raise TextError("over", None, f"{text!r} names no arguments; write rows=size, ranks=1|2|4")
    arguments: dict[str, Any] = {}
    for one in tree.keywords:
        if one.arg in arguments:
            raise TextError("over", one.col_offset + 1 + shift, f"{one.arg} stands here for the second time")
        arguments[_name(one)] = _value(one.value, "over", shift)
    return Sizes(where=where, **arguments)


def domain_of_table(table: Mapping[str, object], where: Callable[..., object] | None) -> Sizes:
    """The domain that a table of TOML describes.

    Raises:
        TextError: it is none; which argument, and at which column of its text.
        DomainError: it describes no sizes.
    """
    if "where" in table:
        raise TextError("over", None, "has a key 'where'; write it beside over, not inside")
    return Sizes(where=where, **{name: _entry(f"over.{name}", value) for name, value in table.items()})


def _entry(what: str, value: object) -> object:
    """One value of a TOML table."""
    if isinstance(value, str):
        tree, shift = parsed(what, value)
        return _value(tree, what, shift)
    if isinstance(value, list):
        inner = [_entry(f"{what}[{place}]", one) for place, one in enumerate(value)]
        return tuple(inner) if any(map(_holds_sizes, inner)) else inner
    if isinstance(value, bool | int | float):
        return value
    raise TextError(what, None, f"is a {_toml_kind(value)}; {FORMS}")


def _value(node: ast.expr, what: str, shift: int) -> Any:
    """The value of one expression: a choice, a size, a tuple, or a plain value."""

    def refused(reason: str) -> TextError:
        return TextError(what, node.col_offset + 1 + shift, reason)

    def inner(one: ast.expr) -> Any:
        return _value(one, what, shift)

    match node:
        case ast.Name("size"):
            return size()
        case ast.Call(ast.Name("size"), least, keywords):
            return size(_least(least, keywords, refused))
        case ast.Call(ast.Name("sizes"), [ast.Name(count), *least], keywords):
            return sizes(count, _least(least, keywords, refused))
        case ast.Call(ast.Name("sizes"), [ast.Constant(int(count)), *least], keywords):
            return sizes(count, _least(least, keywords, refused))
        case ast.Call(ast.Name("fixed"), [value], []):
            return fixed(_plain(value, refused))
        case ast.Call(ast.Name("range"), [*ends], []) if 1 <= len(ends) <= 3:
            return _range([_plain(end, refused) for end in ends], refused)
        case ast.BinOp(left, ast.BitOr(), right):
            chosen = inner(left) if _is_choice(left) else [inner(left)]
            return [*chosen, inner(right)]
        case ast.List(elements):
            return [inner(one) for one in elements]
        case ast.Tuple(elements):
            return tuple([inner(one) for one in elements])
        case ast.Name(name):
            raise refused(f"{name} is no value; {FORMS}")
        case ast.Call():
            raise refused(f"{shown(node)} is no value; {FORMS}")
    return _plain(node, refused)


def _is_choice(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


def _plain(node: ast.expr, refused: Callable[[str], TextError]) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        raise refused(f"{shown(node)} is no value; {FORMS}") from None


def _least(plain: list[ast.expr], keywords: list[ast.keyword], refused: Callable[[str], TextError]) -> int:
    match plain, keywords:
        case [], []:
            return 0
        case ([ast.Constant(int(least))], []) | ([], [ast.keyword("least", ast.Constant(int(least)))]):
            return least
    raise refused("takes the least size and nothing else, as in size(1), size(least=1) or sizes(4, least=1)")


def _range(ends: list[Any], refused: Callable[[str], TextError]) -> range:
    if not all(type(end) is int for end in ends) or (len(ends) == 3 and ends[2] == 0):
        raise refused("a range has plain numbers, such as range(1, 9)")
    made: range = range(*ends)
    if len(made) > MOST_CHOICES:
        raise refused(
            f"a choice of {len(made)} values, over {MOST_CHOICES}; a size is proved for all of them"
        )
    return made


def _holds_sizes(value: object) -> bool:
    return isinstance(value, AnySize | ManySizes) or (
        isinstance(value, tuple) and any(map(_holds_sizes, value))
    )


def _has_stars(tree: ast.Call) -> bool:
    return any(one.arg is None for one in tree.keywords)


def _name(keyword: ast.keyword) -> str:
    name = str(keyword.arg)
    if name == "where":
        raise DomainError("over names an argument 'where'; the precondition is --where")
    return name


def _toml_kind(value: object) -> str:
    return "table" if isinstance(value, dict) else type(value).__name__
