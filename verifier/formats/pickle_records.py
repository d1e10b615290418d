"""What a pickle turns into: plain objects of our own making, and inert records for everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """A global that the pickle refers to. It is never looked up."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Call:
    """A call that the pickle asks for. It is never made.

    ``state`` is what the pickle wants the result to be given afterwards, None when nothing.
    """

    function: Name
    args: tuple[object, ...]
    state: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What a pickle of one format may refer to and ask for; everything else is refused.

    Names are compared whole, so that a dotted name cannot reach through an allowed one.

    Attributes:
        names: globals it may refer to as data.
        calls: globals it may call; they become ``Call`` records.
        stateful: those of ``calls`` whose result may be given state.
        mappings: globals whose call is a mapping, read as a plain dict; state given to it is dropped.
        persistent: makes a record of a persistent id, None when the format has none. It must not trust its
            argument, and raises ValueError when it is not as it should be.
    """

    names: frozenset[Name] = frozenset()
    calls: frozenset[Name] = frozenset()
    stateful: frozenset[Name] = frozenset()
    mappings: frozenset[Name] = frozenset()
    persistent: Callable[[object], object] | None = None

    def knows(self, name: Name) -> bool:
        """True when the pickle may refer to ``name`` at all."""
        return name in self.names or name in self.calls or name in self.mappings


PLAIN = Grammar(mappings=frozenset({Name("collections", "OrderedDict")}))
"""The grammar of a pickle that holds only plain objects."""
