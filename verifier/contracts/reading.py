"""Values of a contract document, read without ever guessing: what is not as it should be breaks a rule.

A bool is a bool, an int is an int and no bool, a list is a list. A broken value is noted and replaced by one
that breaks nothing else, so that one mistake is reported once and hides no other. Sizes are bounded, for some
rules compare every two members of a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast, get_args

from verifier.contracts.broken import Broken

T = TypeVar("T")

SHOWN = 60
MOST_DECLARED = 1_000
"""Members of one list or object of a contract; nobody declares as many."""
MOST_MEMBERS = 200_000
"""Members of a process group, and parameters of a model."""
MOST_DIMENSIONS = 64
"""Of one tensor; torch itself stops there."""
MOST_CHARACTERS = 4_096
"""Of one name."""
UNREAD = "?"
"""Stands for a name that could not be read."""
UNSEEN = (
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u1680\u180e\u2000-\u200f"
    r"\u2028-\u202f\u205f-\u206f\u3000\ud800-\udfff\ufeff\ufff9-\ufffb" + "\U000e0000-\U000e007f"
)
"""Characters in no name, as a class of Python's and JavaScript's regular expressions (the tags stand as they
are, for the two write them differently): controls, line ends, what directs or joins letters without being
seen, halves of characters, and blanks that look like the plain one or like nothing.
"""
LARGEST = 2**63 - 1
"""Integers beyond are in no tensor, and would make messages that nobody can read."""


_UNSEEN = re.compile(f"[{UNSEEN}]")
MOST_SAID = 20
"""Messages about one rule at one place; some rules compare every two members of a list."""


@dataclass(slots=True)
class Notes:
    """The rules that a document breaks, in the order found.

    Attributes:
        unread: places of values that others stand for; what those break is nothing that anybody has written.
    """

    broken: list[Broken] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    _said: dict[tuple[str, str, bool], set[str]] = field(default_factory=dict)

    def note(self, rule: str, pointer: str, message: str) -> None:
        """A rule that a value breaks."""
        self.add(Broken(pointer, rule, message))

    def add(self, found: Broken) -> None:
        """A broken rule; said once for each place, and not endlessly."""
        said = self._said.setdefault((found.pointer, found.rule, found.remark), set())
        if found.message not in said and len(said) < MOST_SAID:
            said.add(found.message)
            self.broken.append(found)


def shown(value: object) -> str:
    """A value in few characters, printable ASCII."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def why_no_name(text: str) -> str:
    """What is wrong with a text as a name, empty if nothing is."""
    if len(text) > MOST_CHARACTERS:
        return f"a text of {len(text)} characters; {MOST_CHARACTERS} are read"
    if not text or text != text.strip(" "):
        return f"{shown(text)} is empty or has outer blanks"
    unseen = _UNSEEN.search(text)
    if unseen is not None:
        return f"{shown(text)} has U+{ord(unseen[0]):04X} in it, which is not to be seen"
    return ""


def step(key: str | int) -> str:
    """A key as one step of a JSON pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of the document with its place."""

    raw: object
    pointer: str
    notes: Notes

    def child(self, key: str | int, raw: object) -> Value:
        """A value below this one."""
        return Value(raw, f"{self.pointer}/{step(key)}", self.notes)

    def broken(self, rule: str, message: str) -> None:
        """Note that this value breaks a rule, and is not to be asked for others."""
        self.notes.unread.add(self.pointer)
        self.notes.note(rule, self.pointer, message)

    def flag(self, rule: str, default: bool = False) -> bool:
        """A bool and nothing that looks like one."""
        if type(self.raw) is bool:
            return self.raw
        self.broken(rule, f"{shown(self.raw)} is no bool; write true or false")
        return default

    def integer(self, rule: str, *, least: int | None = None, default: int = 0) -> int:
        """An int that is no bool, not below ``least`` and not beyond any tensor."""
        if type(self.raw) is not int:
            self.broken(rule, f"{shown(self.raw)} is no integer")
            return default
        if abs(self.raw) > LARGEST:
            self.broken(rule, f"{shown(self.raw)} is larger than any tensor")
            return default
        if least is not None and self.raw < least:
            self.broken(rule, f"{self.raw} is below {least}")
            return default
        return self.raw

    def text(self, rule: str, default: str = UNREAD) -> str:
        """A text that is not empty, with no blanks around it and all of it to be seen."""
        if type(self.raw) is not str:
            self.broken(rule, f"{shown(self.raw)} is no text")
            return default
        why = why_no_name(self.raw)
        if why:
            self.broken(rule, why)
            return default
        return self.raw

    def word(self, rule: str, kind: object, default: str) -> str:
        """One of the words of a Literal type."""
        words = get_args(kind)
        if type(self.raw) is str and self.raw in words:
            return self.raw
        self.broken(rule, f"{shown(self.raw)} is not one of {', '.join(words)}")
        return default

    def items(self, rule: str, most: int = MOST_DECLARED) -> list[Value]:
        """The members of a list; a text or an object is none."""
        if type(self.raw) is not list:
            self.broken(rule, f"{shown(self.raw)} is no list")
            return []
        if len(self.raw) > most:
            self.broken(rule, f"{len(self.raw)} members; {most} are read")
            return []
        return [self.child(position, raw) for position, raw in enumerate(self.raw)]

    def ordered(self, rule: str, most: int = MOST_DECLARED) -> list[Value]:
        """The members of a list whose order says something; an object has none (N32)."""
        if type(self.raw) is dict:
            self.broken("N32", f"{shown(self.raw)} is an object: its members have no order")
            return []
        return self.items(rule, most)

    def entries(self, rule: str, most: int = MOST_DECLARED) -> Mapping[str, Value]:
        """The members of an object by name."""
        if type(self.raw) is not dict or not all(type(key) is str for key in self.raw):
            self.broken(rule, f"{shown(self.raw)} is no object")
            return {}
        if len(self.raw) > most:
            self.broken(rule, f"{len(self.raw)} members; {most} are read")
            return {}
        members = cast(dict[str, object], self.raw)
        return {key: self.child(key, raw) for key, raw in members.items()}


class Members:
    """The members of one object: each asked for by name, and whatever is left over breaks a rule."""

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
                self._value.notes.note(rule, self._value.pointer, f"there is no {name}")
                self._value.notes.unread.add(f"{self._value.pointer}/{name}")
            return Value(default, f"{self._value.pointer}/{name}", Notes())
        return found

    def optional(self, name: str, read: Callable[[Value], T], default: T) -> T:
        """A member that may be absent, read."""
        found = self.get(name)
        return default if found is None else read(found)

    def done(self, rule: str = "N3") -> None:
        """No member may be left."""
        for name, value in self._left.items():
            value.broken(rule, f"{shown(name)} is no member of this object")


def repeated(values: Iterable[T]) -> Iterator[tuple[int, T]]:
    """The values that came before, with their positions."""
    seen: set[T] = set()
    for position, value in enumerate(values):
        if value in seen:
            yield position, value
        seen.add(value)
