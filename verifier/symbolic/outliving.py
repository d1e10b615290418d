"""What code changes that outlives its call: whatever it reaches by a name and that keeps something.

A constructor that remembers one call in another is no function of its sizes, and nothing is proved of it.
What it has changed in a run on symbolic sizes is taken back: no size of that run is of use in another.

Theory: T19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from io import IOBase
from types import FrameType, FunctionType, MethodType, ModuleType

from verifier.symbolic.kept import State, keeps, put_back, state_of

MOST_DEPTH = 4
"""Of things in things."""
MOST_MEMBERS = 10_000
"""Of one thing, that are looked into."""


class Outliving:
    """The things that code of one run can reach by a name, as they were before it."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[str, object, State]] = {}
        self._depths: dict[int, int] = {}
        self._going_on: str | None = None

    def note_module(self, constructor: object) -> None:
        """A constructor, what it is bound to, and all functions of its module, before anything runs."""
        while isinstance(constructor, partial | MethodType):
            if isinstance(constructor, partial):
                constructor = constructor.func
            else:
                self._note("what the constructor is bound to", constructor.__self__)
                constructor = constructor.__func__
        self.note_function(constructor)
        for value in list(getattr(constructor, "__globals__", {}).values()):
            if isinstance(value, FunctionType):
                self.note_function(value)

    def note_function(self, function: object) -> None:
        """Defaults, attributes and what a function holds of the one around it."""
        self._note(f"what {getattr(function, '__name__', 'a function')} keeps", function)

    def note_globals(self, frame: FrameType) -> None:
        """What the code of a function may reach in its module, and by one name in another."""
        names = frame.f_code.co_names
        self._note_named("", {name: frame.f_globals.get(name) for name in names}, names)

    def _note_named(self, path: str, scope: Mapping[str, object], names: tuple[str, ...]) -> None:
        """What names lead to, in modules that names lead to as well."""
        for name in names:
            value = scope.get(name)
            if not isinstance(value, ModuleType):
                self._note(path + name, value)
            elif path.count(".") < MOST_DEPTH:
                self._before.setdefault(id(value), (path + name, value, state_of(value)))
                self._note_named(f"{path}{name}.", vars(value), names)

    def restored(self) -> str | None:
        """Take back what was changed; the name of one such thing, None without any."""
        found = self._going_on
        for name, thing, before in self._before.values():
            if not state_of(thing).is_that_of(before):
                put_back(thing, before)
                found = found or name
        return found

    def _note(self, name: str, value: object, depth: int = 0) -> None:
        if self._depths.get(id(value), MOST_DEPTH + 1) <= depth:
            return
        if not keeps(value):
            if issubclass(type(value), Iterator) and not issubclass(type(value), IOBase):
                self._going_on = self._going_on or name  # nobody can see how far it has gone
            return
        self._depths[id(value)] = depth
        state = self._before[id(value)][2] if id(value) in self._before else state_of(value)
        self._before.setdefault(id(value), (name, value, state))
        for inside in (type(value), *state.everything) if len(state.everything) <= MOST_MEMBERS else ():
            self._note(name, inside, depth + 1)
