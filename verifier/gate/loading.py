"""A function of the user's, found by its place: ``module:function`` or ``path/to/file.py:function``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from verifier.gate.raised import is_interruption

PROJECT = "pyproject.toml"
FORM = "write module:function or path/to/file.py:function"

_NOT_OF_USERS = (Path(__file__).parents[1], Path(sysconfig.get_path("stdlib")))


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

    A module is looked for there, and then in the folder of the nearest pyproject.toml, where its other tools
    have their paths.

    Raises:
        FunctionError: the place cannot be imported or holds nothing.
        NotCallableError: what it holds cannot be called.
    """
    return _load_from(where, Path.cwd())


def load_beside(where: str, file: str) -> Loaded:
    """What is at a place, as seen from the folder of a file, or the nearest one above that has it.

    A test that was written finds its constructor so, wherever pytest is started.

    Raises:
        As ``load``.
    """
    place = place_of(where)
    if place.file is not None and not place.file.is_absolute():
        for folder in Path(file).resolve().parents:
            if (folder / place.file).is_file():
                return load(f"{folder / place.file}:{place.name}")
    return load(where)


def project_file(start: Path) -> Path | None:
    """The nearest pyproject.toml, from a folder upwards."""
    folder = start.resolve()
    files = [one / PROJECT for one in (folder, *folder.parents)]
    return next((one for one in files if one.is_file()), None)


def _folder_of(module: ModuleType, here: Path) -> Path:
    """From where a module was found, as far as we made it to be found."""
    file, project = getattr(module, "__file__", None), project_file(here)
    if file is None or project is None or Path(file).is_relative_to(here):
        return here
    return project.parent if Path(file).is_relative_to(project.parent) else here


@cache
def _load_from(where: str, here: Path) -> Loaded:
    place = place_of(where)
    module = _module(place.source) if place.file is None else _file(place.file)
    found = _attribute(module, place)
    if not callable(found):
        raise NotCallableError(f"{where} is a {type(found).__name__}, no function")
    packages = {_top(module.__name__), _top(str(getattr(found, "__module__", "")))} - {"builtins"}
    folder = _folder_of(module, here) if place.file is None else place.file.resolve().parent
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
    """A module by its name, looked for in the current directory too, and in that of the project."""
    here = Path.cwd()
    project = project_file(here)
    with looking_into(here if project is None else project.parent), looking_into(here):
        try:
            return importlib.import_module(name)
        except BaseException as error:
            if is_interruption(error):
                raise
            raise _not_imported(f"module {name!r}", error, FORM) from error


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
            raise _not_imported(str(path), error, "repair it first") from error
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
    """The functions and classes that it defines; what it imports is found where that is defined."""
    own = [
        (name, value)
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
    ]
    functions = sorted(name for name, value in own if inspect.isfunction(value))
    classes = sorted(name for name, value in own if inspect.isclass(value))
    told = [f"its functions are {', '.join(functions) or 'none'}"] if functions or not classes else []
    return "; ".join(told + ([f"its classes are {', '.join(classes)}"] if classes else []))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _digest(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    if file is None:
        return "no source"
    return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]}"


def _not_imported(what: str, error: BaseException, advice: str) -> FunctionError:
    """With the line of the user's own code at which the import ended, wherever it went from there."""
    at = _line_of(error)
    said = _words(error) if at is None else f"{at}: {_words(error)}"
    return FunctionError(f"{what} cannot be imported ({said}); {advice}")


def _line_of(error: BaseException) -> str | None:
    """``file:line: the line`` of the innermost code that is neither ours nor installed."""
    frames = [
        one
        for one in traceback.extract_tb(error.__traceback__)
        if not one.filename.startswith("<") and not _is_installed(Path(one.filename))
    ]
    if not frames or isinstance(error, SyntaxError):
        return None  # a syntax error says itself where it is
    last = frames[-1]
    return f"{shown_path(last.filename)}:{last.lineno}" + (f": {last.line}" if last.line else "")


def _is_installed(path: Path) -> bool:
    """Whether a file is of this package, of the standard library or of what pip installs."""
    return "site-packages" in path.parts or any(path.is_relative_to(one) for one in _NOT_OF_USERS)


def shown_path(file: str) -> str:
    """A file from the current directory, where it lies below that."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
