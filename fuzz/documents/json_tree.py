"""JSON documents as trees that can say what no parsed value can: equal keys, and texts that are no JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True, slots=True)
class Raw:
    """Text that is written as it stands."""

    text: str


@dataclass(slots=True)
class Members:
    """An object: its keys and values in order, any of them several times."""

    pairs: list[tuple[str | Raw, Node]]

    @property
    def keys(self) -> list[str | Raw]:
        """All keys."""
        return [key for key, _ in self.pairs]


Node = None | bool | int | float | str | Raw | Members | list["Node"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of a tree, with what leads to it.

    Attributes:
        holder: the list or object around it.
        position: in ``holder``.
        path: keys and positions from the root on, its own last.
    """

    holder: Members | list[Node]
    position: int
    path: tuple[str | int, ...]

    @property
    def value(self) -> Node:
        """What stands there."""
        if isinstance(self.holder, list):
            return self.holder[self.position]
        return self.holder.pairs[self.position][1]

    def put(self, value: Node) -> None:
        """Put something else there."""
        if isinstance(self.holder, list):
            self.holder[self.position] = value
        else:
            self.holder.pairs[self.position] = self.holder.pairs[self.position][0], value

    def rename(self, key: str | Raw) -> None:
        """Give a member of an object another key."""
        if isinstance(self.holder, list):
            raise TypeError("items of lists have no keys")
        self.holder.pairs[self.position] = key, self.value

    def remove(self) -> None:
        """Take it out."""
        if isinstance(self.holder, list):
            del self.holder[self.position]
        else:
            del self.holder.pairs[self.position]


def tree_of(data: bytes) -> Slot:
    """The place that holds the tree of a JSON text.

    Raises:
        ValueError: the text is no JSON.
    """
    return Slot([cast(Node, json.loads(data, object_pairs_hook=Members))], 0, ())


def text_of(node: Node) -> str:
    """The JSON text of a tree, in ASCII."""
    match node:
        case Raw(text):
            return text
        case Members(pairs):
            members = [f"{text_of(key)}: {text_of(value)}" for key, value in pairs]
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(map(text_of, node)) + "]"
        case _:
            return json.dumps(node)


def slots(root: Slot) -> Iterator[Slot]:
    """Every place below and including the root, in the order of the text."""
    yield root
    value = root.value
    if isinstance(value, Members):
        for position, (key, _) in enumerate(value.pairs):
            yield from slots(Slot(value, position, (*root.path, key if isinstance(key, str) else key.text)))
    elif isinstance(value, list):
        for position in range(len(value)):
            yield from slots(Slot(value, position, (*root.path, position)))
