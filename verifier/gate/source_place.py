"""Where the text of a constructor stands, for messages: never an absolute path."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

from verifier.diagnostics.finding import Label, Place
from verifier.gate.loading import Loaded, place_of


def source_label(loaded: Loaded, text: str) -> Label | None:
    """The line that names the constructor, with a remark; None where there is no source."""
    found = _definition(loaded.call)
    if found is None:
        return None
    line, number, start, end = found
    place = Place(_shown_file(loaded), "", number, start + 1)
    return Label(place=place, snippet=line, quoted=True, start=start, end=end, text=text, primary=True)


def _definition(function: Callable[..., object]) -> tuple[str, int, int, int] | None:
    """The line of the definition, its number, and the stretch of the name."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
    except (OSError, TypeError, ValueError):
        return None
    name = re.escape(getattr(function, "__name__", ""))
    for number, line in enumerate(lines, max(first, 1)):
        found = re.search(rf"\b(?:def|class) +({name})\b|\b({name}) *=", line)
        if found and name:
            group = 1 if found[1] else 2
            return line.rstrip("\n"), number, found.start(group), found.end(group)
    return None


def _shown_file(loaded: Loaded) -> str:
    """The file as given, relative to the current directory, or as its module is called."""
    place = place_of(loaded.where)
    if place.file is not None:
        return place.source
    function = inspect.unwrap(loaded.call)
    module = str(getattr(function, "__module__", place.source))
    file = Path(inspect.getsourcefile(function) or "").resolve()
    here = Path.cwd()
    if file.is_relative_to(here) and "site-packages" not in file.parts:
        return str(file.relative_to(here))
    return f"{module.replace('.', '/')}.py"
