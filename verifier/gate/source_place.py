"""Where the text of a constructor stands, for messages: never an absolute path."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from verifier.diagnostics.finding import Label, Place
from verifier.gate.loading import Loaded, place_of


def source_label(loaded: Loaded, text: str) -> Label | None:
    """The line that defines the function, with a remark; None where there is no source."""
    found = _definition(_defined(loaded.call))
    if found is None:
        return None
    line, number, start, end = found
    place = Place(_shown_file(loaded), "", number, start + 1)
    return Label(place=place, snippet=line, quoted=True, start=start, end=end, text=text, primary=True)


def source_place(loaded: Loaded) -> Place | None:
    """Where the function is defined; its file alone where no line is found, None without a file."""
    label = source_label(loaded, "")
    if label is not None:
        return label.place
    place = place_of(loaded.where)
    return None if place.file is None else Place(place.source)


def _defined(function: Callable[..., object]) -> Callable[..., object]:
    """What stands in the source: the function of a partial or decorated one, the class of an object."""
    while isinstance(function, partial):
        function = function.func
    found = inspect.unwrap(function)
    return found if hasattr(found, "__name__") else type(found)


def _definition(function: Callable[..., object]) -> tuple[str, int, int, int] | None:
    """The line of the definition, its number, and the stretch of the name, or of the word ``lambda``."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, ValueError):
        return None
    name = getattr(function, "__name__", "")
    pattern = r"\b(lambda)\b" if name == "<lambda>" else rf"\b(?:def|class) +({re.escape(name)})\b"
    for number, line in enumerate(lines, max(first, 1)):
        found = re.search(pattern, line)
        if found:
            return line.rstrip("\n"), number, found.start(1), found.end(1)
    return None


def _shown_file(loaded: Loaded) -> str:
    """The file as given, relative to the current directory, or as its module is called."""
    place, function = place_of(loaded.where), _defined(loaded.call)
    try:
        file = Path(inspect.getsourcefile(function) or "").resolve()
    except TypeError:  # it has none: it is built in
        return place.source
    if place.file is not None and place.file.resolve() == file:
        return place.source
    module = str(getattr(function, "__module__", place.source))
    here = Path.cwd()
    if file.is_relative_to(here) and "site-packages" not in file.parts:
        return str(file.relative_to(here))
    return f"{module.replace('.', '/')}.py"
