"""Values of a contract document, read without ever guessing: what is not as it should be breaks a rule.

A bool is a bool, an int is an int and no bool, a list is a list. A broken value is noted and replaced by one
that breaks nothing else, so that one mistake is reported once and hides no other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast, get_args

from verifier.contracts.broken import Broken

T = TypeVar("T")

SHOWN = 60
MOST_ITEMS = 100_000
"""Members of one list or object of a contract; nobody declares as many."""


@dataclass(slots=True)
class Notes:
    """The rules that a document breaks, in the order found."""

    broken: list[Broken] = field(default_factory=list)

    def note(self, rule: str, pointer: str, message: str) -> None:
        """A broken rule; said once for each place and rule."""
        found = Broken(pointer, rule, message)
        if not any(known.pointer == pointer and known.rule == rule for known in self.broken):
            self.broken.append(found)


def shown(value: object) -> str:
    """A value in few characters, printable ASCII."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


@dataclass(frozen=True, slots=True)
class Value:
    """One value of the document with its place."""

    raw: object
    pointer: str
    notes: Notes

    def child(self, key: str | int, raw: object) -> Value:
        """A value below this one."""
        step = str(key).replace("~", "~0").replace("/", "~1")
        return Value(raw, f"{self.pointer}/{step}", self.notes)

    def broken(self, rule: str, message: str) -> None:
        """Note that this value breaks a rule."""
        self.notes.note(rule, self.pointer, message)

    def flag(self, rule: str, default: bool = False) -> bool:
        """A bool and nothing that looks like one."""
        if type(self.raw) is bool:
            return self.raw
        self.broken(rule, f"{shown(self.raw)} is no bool; write true or false")
        return default

    def integer(self, rule: str, *, least: int | None = None, default: int = 0) -> int:
        """An int that is no bool, not below ``least``."""
        if type(self.raw) is not int:
            self.broken(rule, f"{shown(self.raw)} is no integer")
            return default
        if least is not None and self.raw < least:
            self.broken(rule, f"{self.raw} is below {least}")
            return default
        return self.raw

    def text(self, rule: str, default: str = "?") -> str:
        """A text that is not empty, with no blanks around it and no NUL."""
        if type(self.raw) is not str:
            self.broken(rule, f"{shown(self.raw)} is no text")
            return default
        if not self.raw or self.raw != self.raw.strip() or "\0" in self.raw:
            self.broken(rule, f"{shown(self.raw)} is empty, has outer blanks or a NUL")
            return default
        return self.raw

    def word(self, rule: str, kind: object, default: str) -> str:
        """One of the words of a Literal type."""
        words = get_args(kind)
        if type(self.raw) is str and self.raw in words:
            return self.raw
        self.broken(rule, f"{shown(self.raw)} is not one of {', '.join(words)}")
        return default

    def items(self, rule: str) -> list[Value]:
        """The members of a list; a text or an object is none."""
        if type(self.raw) is not list or len(self.raw) > MOST_ITEMS:
            self.broken(rule, f"{shown(self.raw)} is no list")
            return []
        return [self.child(position, raw) for position, raw in enumerate(self.raw)]

    def entries(self, rule: str) -> Mapping[str, Value]:
        """The members of an object by name."""
        if type(self.raw) is not dict or len(self.raw) > MOST_ITEMS:
            self.broken(rule, f"{shown(self.raw)} is no object")
            return {}
        members = cast(dict[str, object], self.raw)
        return {key: self.child(key, raw) for key, raw in members.items()}


class Members:
    """The members of one object: each asked for by name, and whatever is left over breaks N3."""

    __slots__ = ("_left", "_value", "there")

    def __init__(self, value: Value, rule: str) -> None:
        self.there = value.entries(rule)
        self._left = dict(self.there)
        self._value = value

    def get(self, name: str) -> Value | None:
        """A member that may be absent."""
        self._left.pop(name, None)
        return self.there.get(name)

    def need(self, name: str, rule: str, default: object) -> Value:
        """A member that must be there; ``default`` stands in for it and breaks nothing."""
        found = self.get(name)
        if found is None:
            if self.there or type(self._value.raw) is dict:
                self._value.broken(rule, f"there is no {name}")
            return Value(default, f"{self._value.pointer}/{name}", Notes())
        return found

    def optional(self, name: str, read: Callable[[Value], T], default: T) -> T:
        """A member that may be absent, read."""
        found = self.get(name)
        return default if found is None else read(found)

    def done(self) -> None:
        """No member may be left."""
        for name, value in self._left.items():
            value.broken("N3", f"{shown(name)} is no member of this object")


def distinct(values: Sequence[T]) -> bool:
    """Whether no value comes twice."""
    return len(set(values)) == len(values)
