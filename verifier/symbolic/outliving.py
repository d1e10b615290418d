"""What code changes that outlives its call: lists, dicts and sets of modules and of functions.

A constructor that remembers one call in another is no function of its sizes, and nothing is proved of it.
What it has changed in a run on symbolic sizes is taken back: no size of that run is of use in another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FrameType, FunctionType, ModuleType
from typing import Any

MOST_DEPTH = 3
"""Of containers in containers."""
MOST_MEMBERS = 10_000
"""Of one container."""

Container = list[Any] | dict[Any, Any] | set[Any]


class Outliving:
    """The containers that code of one run can reach by a name, as they were before it."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[str, Container, list[Any]]] = {}

    def note_module(self, constructor: Callable[..., object]) -> None:
        """All functions of the module of a constructor, before anything of it runs."""
        while isinstance(constructor, partial):
            constructor = constructor.func
        self.note_function(constructor)
        for value in list(getattr(constructor, "__globals__", {}).values()):
            if isinstance(value, FunctionType):
                self.note_function(value)

    def note_function(self, function: Callable[..., object]) -> None:
        """Defaults, attributes and what a function holds of the one around it."""
        values = [*(getattr(function, "__defaults__", None) or ())]
        values += (getattr(function, "__kwdefaults__", None) or {}).values()
        values += getattr(function, "__dict__", {}).values()
        for cell in getattr(function, "__closure__", None) or ():
            try:
                values.append(cell.cell_contents)
            except ValueError:  # a name that is not bound yet
                continue
        for value in values:
            self._note(f"what {getattr(function, '__name__', 'a function')} keeps", value)

    def note_globals(self, frame: FrameType) -> None:
        """What the code of a function may reach in its module, and by one name in another."""
        for name in frame.f_code.co_names:
            value = frame.f_globals.get(name)
            if isinstance(value, ModuleType):
                for inner in frame.f_code.co_names:
                    self._note(f"{name}.{inner}", vars(value).get(inner))
            else:
                self._note(name, value)

    def restored(self) -> str | None:
        """Take back what was changed; the name of one such container, None without any."""
        found: str | None = None
        for name, container, before in self._before.values():
            if not _are_same(_members(container), before):
                _fill(container, before)
                found = found or name
        return found

    def _note(self, name: str, value: object, depth: int = 0) -> None:
        if not isinstance(value, list | dict | set) or id(value) in self._before or len(value) > MOST_MEMBERS:
            return
        members = _members(value)
        self._before[id(value)] = name, value, members
        for member in members if depth < MOST_DEPTH else ():
            self._note(name, member, depth + 1)


def _members(container: Container) -> list[Any]:
    """What is in it; keys and values one after the other."""
    if isinstance(container, dict):
        return [member for pair in container.items() for member in pair]
    return list(container)


def _fill(container: Container, members: list[Any]) -> None:
    container.clear()
    match container:
        case list():
            container.extend(members)
        case set():
            container.update(members)
        case dict():
            container.update(zip(members[::2], members[1::2], strict=True))


def _are_same(some: list[Any], others: list[Any]) -> bool:
    """By identity: nothing of others runs for it."""
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))
