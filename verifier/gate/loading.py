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

from verifier.gate.raised import is_interruption

FORM = "write module:function or path/to/file.py:function"


class FunctionError(ImportError):
    """There is no such function, or it takes something else; the text says what to do."""


class NotCallableError(FunctionError):
    """What is at the place cannot be called."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a function is to be found: a module by its name or a file by its path, and a name inside it."""

    source: str
    name: str

    @property
    def file(self) -> Path | None:
        """The file; None for a module."""
        return Path(self.source) if self.source.endswith(".py") else None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Something callable at a place.

    Attributes:
        where: the place, as it was written.
        packages: top-level names, of where it was found and of where it was defined.
        digest: of its source file.
        folder: what its module may import its neighbours from.
    """

    where: str
    call: Callable[..., Any]
    packages: frozenset[str]
    digest: str
    folder: Path

    def owns(self, exception: type[BaseException]) -> bool:
        """Whether an exception class, or one that it derives from, is of the function's own packages."""
        return any(self.owns_module(base.__module__) for base in exception.__mro__)

    def owns_module(self, name: str) -> bool:
        """Whether a module is of the function's own packages."""
        return _top(name) in self.packages


def place_of(where: str) -> Place:
    """The parts of a place.

    Raises:
        FunctionError: it names no function.
    """
    source, separator, name = where.rpartition(":")
    if not (source and separator and name):
        raise FunctionError(f"{where!r} names no function; {FORM}")
    return Place(source, name)


def load(where: str) -> Loaded:
    """What is at a place, as seen from the current directory; loaded once.

    Raises:
        FunctionError: the place cannot be imported or holds nothing.
        NotCallableError: what it holds cannot be called.
    """
    return _load_from(where, Path.cwd())


@cache
def _load_from(where: str, here: Path) -> Loaded:
    place = place_of(where)
    module = _module(place.source) if place.file is None else _file(place.file)
    found = _attribute(module, place)
    if not callable(found):
        raise NotCallableError(f"{where} is a {type(found).__name__}, no function")
    packages = {_top(module.__name__), _top(str(getattr(found, "__module__", "")))} - {"builtins"}
    folder = here if place.file is None else place.file.resolve().parent
    return Loaded(where, found, frozenset(packages), _digest(module), folder)


@contextmanager
def looking_into(folder: Path) -> Iterator[None]:
    """Imports find what lies in a folder, for a while."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:  # unless the module took it out
            sys.path.remove(entry)


def _module(name: str) -> ModuleType:
    """A module by its name, looked for in the current directory too."""
    with looking_into(Path.cwd()):
        try:
            return importlib.import_module(name)
        except BaseException as error:
            if is_interruption(error):
                raise
            raise FunctionError(f"module {name!r} cannot be imported ({_words(error)}); {FORM}") from error


def _file(path: Path) -> ModuleType:
    """A module from a file, which may import its neighbours while it is loaded; one for each content."""
    absolute = path.resolve()
    if not absolute.is_file():
        raise FunctionError(f"there is no file {path}; {FORM}")
    content = str(absolute).encode() + absolute.read_bytes()
    name = f"{absolute.stem}_{hashlib.sha256(content).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, absolute)
    if spec is None or spec.loader is None:
        raise FunctionError(f"{path} is no Python file; {FORM}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    with looking_into(absolute.parent):
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            sys.modules.pop(name, None)
            if is_interruption(error):
                raise
            raise FunctionError(f"{path} cannot be imported ({_words(error)}); repair it first") from error
    return module


def _attribute(module: ModuleType, place: Place) -> Any:
    found: Any = module
    for part in place.name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise FunctionError(f"{place.source} has no {place.name!r}; {_callables(module)}") from None
        except Exception as error:  # modules may have a __getattr__ of their own
            raise FunctionError(f"{place.source} does not give {place.name!r} ({_words(error)})") from error
    return found


def _callables(module: ModuleType) -> str:
    """Its functions, and the classes that it defines."""
    found = vars(module).items()
    functions = sorted(name for name, value in found if inspect.isfunction(value))
    classes = sorted(
        name for name, value in found if inspect.isclass(value) and value.__module__ == module.__name__
    )
    told = [f"its functions are {', '.join(functions) or 'none'}"] if functions or not classes else []
    return "; ".join(told + ([f"its classes are {', '.join(classes)}"] if classes else []))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _digest(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    if file is None:
        return "no source"
    return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]}"


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
