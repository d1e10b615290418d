"""A function of the user's by its place, that takes a map, or a map and the shards."""

from __future__ import annotations

import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from verifier.gate import loading
from verifier.gate.loading import FunctionError, Loaded, NotCallableError

__all__ = ["Function", "FunctionError", "load"]

TAKES = "it must take a map, or a map and the shards"
RUNS_NOTHING = "to call it runs none of its lines; name a function"
OF_AN_OBJECT = "give the method of an object a name in the file, as in check = Checker().check, and name that"
INSTALLED = frozenset(
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
"""Where the modules of Python and of installed packages lie."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one or two parameters.

    Attributes:
        parameters: how many it must be given.
        digest: of the source of its own packages, and of the modules from its folder that were loaded with
            it. What it imports only when it is called is covered where it is of its own packages.
    """

    loaded: Loaded
    parameters: int
    digest: str

    @property
    def call(self) -> Callable[..., Any]:
        """The function itself."""
        return self.loaded.call

    def owns(self, exception: type[BaseException]) -> bool:
        """Whether an exception class, or one that it derives from, is of the function's own packages."""
        return self.loaded.owns(exception)


@cache
def load(where: str) -> Function:
    """The function at a place, as seen from the current directory; loaded once.

    Raises:
        FunctionError: the place cannot be imported, or no function of one or two parameters is there.
    """
    try:
        with redirect_stdout(sys.stderr):
            loaded = loading.load(where)
    except NotCallableError as error:
        raise FunctionError(f"{error}; {TAKES}") from error
    _require_that_a_call_runs(loaded.call, where)
    return Function(loaded, _parameters(loaded.call, where), _digest(loaded))


def _require_that_a_call_runs(found: Callable[..., Any], where: str) -> None:
    for one in (found, getattr(type(found), "__call__", None)):  # noqa: B004, the class of an object
        if inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one):
            raise FunctionError(f"{where} is async: {RUNS_NOTHING} that runs it with asyncio.run")
        if inspect.isgeneratorfunction(one):
            raise FunctionError(f"{where} is a generator function: {RUNS_NOTHING} that goes through it")


def _parameters(found: Callable[..., Any], where: str) -> int:
    try:
        parameters = inspect.signature(found).parameters.values()
    except ValueError as error:
        raise FunctionError(f"{where} does not say what it takes ({error}); wrap it in a function") from error
    needed = [
        p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    takes = f"{where} takes ({', '.join(p.name for p in needed)})"
    if needed and needed[0].name == "self":
        raise FunctionError(f"{takes}, a method without its object; {OF_AN_OBJECT}")
    if len(needed) not in (1, 2) or any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise FunctionError(
            f"{takes} and is a class; {OF_AN_OBJECT}" if inspect.isclass(found) else f"{takes}; {TAKES}"
        )
    return len(needed)


def _digest(loaded: Loaded) -> str:
    digest = sha256()
    for name, path in sorted(dict(_sources(loaded)).items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"sha256:{digest.hexdigest()[:16]}"


def _sources(loaded: Loaded) -> Iterator[tuple[str, Path]]:
    """The files that make the function what it is, under names that do not depend on the machine."""
    apart = [place for place in INSTALLED if place.is_relative_to(loaded.folder)]
    for name, module in sorted(sys.modules.items()):
        attributes = getattr(module, "__dict__", {})  # attributes that a module makes up are no places
        if name in loaded.packages:
            for root in attributes.get("__path__", ()):
                for path in Path(root).rglob("*.py"):
                    yield f"{name}/{path.relative_to(root).as_posix()}", path
        path = Path(attributes.get("__file__") or "")
        if not path.is_file():
            continue
        if path.is_relative_to(loaded.folder) and not any(path.is_relative_to(place) for place in apart):
            yield path.relative_to(loaded.folder).as_posix(), path
        elif loaded.owns_module(name):
            yield name, path
