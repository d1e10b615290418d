"""A function of the user's, found by its place: ``module:function`` or ``path/to/file.py:function``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

FORM = "write module:function or path/to/file.py:function"


class FunctionError(ImportError):
    """There is no such function, or it takes something else; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one or two parameters.

    Attributes:
        parameters: how many it must be given.
        packages: top-level names, of where it was found and of where it was defined.
        digest: of its source file.
    """

    call: Callable[..., Any]
    parameters: int
    packages: frozenset[str]
    digest: str

    def owns(self, exception: type[BaseException]) -> bool:
        """Whether an exception class, or one that it derives from, is of the function's own packages."""
        return any(_top(base.__module__) in self.packages for base in exception.__mro__)


@cache
def load(where: str) -> Function:
    """The function at a place.

    Raises:
        FunctionError: the place cannot be imported, or no function of one or two parameters is there.
    """
    source, separator, name = where.rpartition(":")
    if not (source and separator and name):
        raise FunctionError(f"{where!r} names no function; {FORM}")
    module = _file(Path(source)) if source.endswith(".py") else _module(source)
    found = _attribute(module, name)
    packages = {_top(module.__name__), _top(str(getattr(found, "__module__", "")))} - {"builtins"}
    return Function(found, _parameters(found, where), frozenset(packages), _digest(module))


def _module(name: str) -> ModuleType:
    """A module by its name, looked for in the current directory too."""
    with _looking_into(Path.cwd()):
        try:
            return importlib.import_module(name)
        except Exception as error:
            raise FunctionError(f"module {name!r} cannot be imported ({_words(error)}); {FORM}") from error


def _file(path: Path) -> ModuleType:
    """A module from a file, which may import its neighbours while it is loaded."""
    path = path.resolve()
    if not path.is_file():
        raise FunctionError(f"there is no file {path}; {FORM}")
    name = f"fuzzed_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FunctionError(f"{path} is no Python file; {FORM}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    with _looking_into(path.parent):
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[name]
            raise FunctionError(f"{path} cannot be imported ({_words(error)}); repair it first") from error
    return module


def _attribute(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            there = sorted(n for n, value in vars(module).items() if inspect.isfunction(value))
            raise FunctionError(
                f"{module.__name__} has no {name!r}; its functions are {', '.join(there) or 'none'}"
            )
        found = getattr(found, part)
    return found


def _parameters(found: Any, where: str) -> int:
    takes = "it must take a map, or a map and the shards"
    if not callable(found):
        raise FunctionError(f"{where} is a {type(found).__name__}, no function; {takes}")
    try:
        parameters = inspect.signature(found).parameters.values()
    except ValueError as error:
        raise FunctionError(f"{where} does not say what it takes; wrap it in a function of yours") from error
    needed = [
        p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if len(needed) not in (1, 2) or any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise FunctionError(f"{where} takes ({', '.join(p.name for p in needed)}); {takes}")
    return len(needed)


def _top(module: str) -> str:
    return module.partition(".")[0]


def _digest(module: ModuleType) -> str:
    if module.__file__ is None:
        return "no source"
    return f"sha256:{hashlib.sha256(Path(module.__file__).read_bytes()).hexdigest()[:16]}"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextmanager
def _looking_into(folder: Path) -> Iterator[None]:
    """Imports find what lies in a folder, for a while."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:  # unless the module took it out
            sys.path.remove(entry)
