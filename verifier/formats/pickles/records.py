"""What a pickle turns into: plain objects of our own making, and inert records for everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


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


GETATTR = frozenset({Name("builtins", "getattr"), Name("__builtin__", "getattr")})
"""How old protocols reach a class inside another. Like every call it is never made."""


DEFAULTDICT = Name("collections", "defaultdict")
COUNTER = Name("collections", "Counter")
"""Mappings that are called with an argument: what makes missing values, or the mapping itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What a pickle of one format may refer to and ask for; everything else is refused.

    Names are compared whole, so that a dotted name cannot reach through an allowed one.

    Attributes:
        names: globals it may refer to as data.
        calls: globals it may call; they become ``Call`` records.
        stateful: those of ``calls`` whose result may be given state.
        mappings: globals whose call is a mapping, read as a plain dict; state given to it is dropped.
        kept: the only fields that are kept of the state of some, whose others may refer back to them.
        keys: those of ``calls`` whose results may be keys of a mapping; each result is a key of its own.
        nested: classes inside others, such as ``Outer.Inner``, that it may reach through ``getattr``.
        persistent: makes a record of a persistent id, None when the format has none. It must not trust its
            argument, and raises ValueError when it is not as it should be.
    """

    names: frozenset[Name] = frozenset()
    calls: frozenset[Name] = frozenset()
    stateful: frozenset[Name] = frozenset()
    mappings: frozenset[Name] = frozenset()
    kept: Mapping[Name, frozenset[str]] = field(default_factory=dict)
    keys: frozenset[Name] = frozenset()
    nested: frozenset[Name] = frozenset()
    persistent: Callable[[object], object] | None = None

    def knows(self, name: Name) -> bool:
        """True when the pickle may refer to ``name`` at all."""
        if name in GETATTR:
            return bool(self.nested)
        return name in self.names or name in self.calls or name in self.mappings

    def __or__(self, other: Grammar) -> Grammar:
        """What either of two grammars allows. Persistent ids are those of the first that has any."""
        return Grammar(
            names=self.names | other.names,
            calls=self.calls | other.calls,
            stateful=self.stateful | other.stateful,
            mappings=self.mappings | other.mappings,
            kept={**self.kept, **other.kept},
            keys=self.keys | other.keys,
            nested=self.nested | other.nested,
            persistent=self.persistent or other.persistent,
        )


PLAIN = Grammar(mappings=frozenset({Name("collections", "OrderedDict")}))
"""The grammar of a pickle that holds only plain objects."""
