"""Whose code a piece of bytecode is: ours, that of the standard library, or that of whoever is gated."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Literal

Owner = Literal["ours", "library", "foreign", "users"]

_OURS = Path(__file__).parents[1]
"""The package, layouts included: they let symbolic sizes through by themselves."""
_LIBRARY = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_SITE = ("site-packages", "dist-packages")

HARMLESS = frozenset(
    {
        "_collections_abc",
        "_weakrefset",
        "abc",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "enum",
        "fractions",
        "functools",
        "logging",
        "numbers",
        "operator",
        "reprlib",
        "types",
        "typing",
    }
)
"""Modules of the standard library that do with a value what their callers ask, and no more."""


_HEAP = 1 << 9
"""The flag of a class that is made while a program runs, as by a class statement."""
_NOT_USERS = frozenset({*sys.stdlib_module_names, "verifier"}) - {"__main__"}


def is_of_users(kind: type) -> bool:
    """Whether a class is made by a class statement of neither the standard library nor this package."""
    return bool(kind.__flags__ & _HEAP) and str(kind.__module__).partition(".")[0] not in _NOT_USERS


def owner_of(code: CodeType) -> Owner:
    """Whose code it is: "foreign" is a module of the standard library of which nothing is known."""
    if code.co_filename == "<string>" and code.co_qualname.startswith("__create_fn__"):
        return "library"  # the methods of a dataclass
    return _owner_of_file(code.co_filename)


@cache
def _owner_of_file(name: str) -> Owner:
    if name.startswith("<frozen "):
        return "library" if name[8:].rstrip(">").partition(".")[0] in {*HARMLESS, "importlib"} else "foreign"
    path = Path(name)
    if path.is_relative_to(_OURS):
        return "ours"
    if "_distutils_hack" in path.parts:  # what setuptools does at every import
        return "library"
    for folder in _LIBRARY:
        if path.is_relative_to(folder) and not set(_SITE) & set(path.parts):
            return (
                "library" if path.relative_to(folder).parts[0].removesuffix(".py") in HARMLESS else "foreign"
            )
    return "users"
