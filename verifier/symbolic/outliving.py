"""What code changes that outlives its call: lists, dicts and sets of its module, or of its defaults.

A constructor that remembers one call in another is no function of its sizes, and nothing is proved of it.
What it has changed in a run on symbolic sizes is taken back: no size of that run is of use in another.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

Container = list[Any] | dict[Any, Any] | set[Any]


class Outliving:
    """The containers that code of one run can reach by a name, as they were before it."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[str, Container, list[Any]]] = {}

    def note_defaults(self, function: Callable[..., object]) -> None:
        """The values that a function has for arguments that are not given."""
        values = [*(getattr(function, "__defaults__", None) or ())]
        values += (getattr(function, "__kwdefaults__", None) or {}).values()
        for value in values:
            self._note("a default", value)

    def note_globals(self, frame: FrameType) -> None:
        """What the code of a function may reach in its module."""
        for name in frame.f_code.co_names:
            if name in frame.f_globals:
                self._note(name, frame.f_globals[name])

    def restored(self) -> str | None:
        """Take back what was changed; the name of one such container, None without any."""
        found: str | None = None
        for name, container, before in self._before.values():
            if not _are_same(_members(container), before):
                _fill(container, before)
                found = found or name
        return found

    def _note(self, name: str, value: object) -> None:
        if isinstance(value, list | dict | set) and id(value) not in self._before:
            self._before[id(value)] = name, value, _members(value)


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
