"""What things keep from one call to the next: members of containers, attributes, what a function holds.

Nothing of others runs to find out: all methods are those of built-in types.

Theory: T19.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial, partialmethod
from itertools import chain
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from weakref import ReferenceType

from verifier.symbolic.fragment import VIEWS
from verifier.symbolic.owners import is_of_users

_MEMBERS: Mapping[type, Callable[[Any], Iterable[object]]] = {
    dict: lambda container: chain.from_iterable(dict.items(container)),
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    deque: deque.__iter__,
    bytearray: bytearray.__iter__,
    FunctionType: lambda function: _held(function),
    MethodType: lambda method: (method.__self__, method.__func__),
    partial: lambda call: (call.func, call.args, call.keywords),
    property: lambda own: (own.fget, own.fset, own.fdel),
    staticmethod: lambda method: (method.__func__,),
    classmethod: lambda method: (method.__func__,),
    partialmethod: lambda method: (method.func, method.args, method.keywords),
    BuiltinFunctionType: lambda method: (method.__self__,),
    MethodWrapperType: lambda method: (method.__self__,),
    MappingProxyType: gc.get_referents,
    frozenset: frozenset.__iter__,
    ReferenceType: lambda reference: (reference(),),
    **dict.fromkeys(VIEWS, gc.get_referents),
    type(lru_cache(lambda: None)): lambda cache: (cache.__wrapped__, *_results(cache)),
}
"""Containers, functions and what calls them, and what leads to others."""
_KEEPERS = (*_MEMBERS, SimpleNamespace)
_OF_DATA = "collections"
"""Its classes in Python, such as UserDict, hold what their users put there."""
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class State:
    """What a thing kept at one time: its members, and its attributes by name."""

    members: tuple[object, ...]
    attributes: Mapping[str, object]

    @property
    def everything(self) -> tuple[object, ...]:
        """Members and attributes."""
        return (*self.members, *self.attributes.values())

    def is_that_of(self, other: State) -> bool:
        """Whether all is the same, by identity."""
        if len(self.members) != len(other.members) or self.attributes.keys() != other.attributes.keys():
            return False
        return all(one is another for one, another in zip(self.everything, other.everything, strict=True))


def keeps(value: object) -> bool:
    """Whether a value may keep something: containers, functions, classes and instances of users."""
    kind = value if isinstance(value, type) else type(value)
    return issubclass(type(value), _KEEPERS) or is_of_users(kind) or kind.__module__ == _OF_DATA


def state_of(value: object) -> State:
    """What a value that keeps something keeps now."""
    if isinstance(value, type):
        return State(value.__bases__, dict(vars(value)))
    if isinstance(value, ModuleType):  # importing a part of it changes nothing that it had
        own = vars(value).items()
        return State((), {name: kept for name, kept in own if not isinstance(kept, ModuleType)})
    members = [members_of(value) for kind, members_of in _MEMBERS.items() if issubclass(type(value), kind)]
    return State(tuple(chain.from_iterable(members)), _attributes(value))


def put_back(value: Any, state: State) -> None:
    """Make a value keep again what it kept; what a function holds of others is theirs."""
    match value:
        case dict():
            dict.clear(value)
            dict.update(value, zip(state.members[::2], state.members[1::2], strict=True))
        case list():
            list.__setitem__(value, slice(None), list(state.members))
        case set():
            set.clear(value)
            set.update(value, state.members)
        case deque():
            deque.clear(value)
            deque.extend(value, state.members)
        case bytearray():
            bytearray.__setitem__(value, slice(None), bytes(state.members))  # type: ignore[arg-type]
    _put_back_attributes(value, state.attributes)


def _put_back_attributes(value: object, before: Mapping[str, object]) -> None:
    of_class = isinstance(value, type)
    now = state_of(value).attributes
    for name in now.keys() - before.keys():
        (type if of_class else object).__delattr__(value, name)
    for name, kept in before.items():
        if now.get(name, _ABSENT) is not kept:
            (type if of_class else object).__setattr__(value, name, kept)


def _results(cache: Any) -> Iterable[object]:
    """What a cached function has returned so far and a caller could change; its own storage is its own."""
    referents = gc.get_referents(cache)
    stored = [one for one in referents if type(one) is dict and one is not vars(cache)][-1]
    for one in (*referents, *stored.values()):
        if one is not stored and keeps(one) and not isinstance(one, tuple | frozenset | type):
            yield one


def _held(function: FunctionType) -> Iterable[object]:
    """Defaults, and what a function holds of the one around it."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that is not bound yet
            continue


def _attributes(value: object) -> dict[str, object]:
    """Those of an instance, and those that its class has a slot for."""
    found: dict[str, object] = {}
    for kind in type(value).__mro__:
        for name, member in vars(kind).items() if "__slots__" in vars(kind) else ():
            if isinstance(member, MemberDescriptorType):
                with suppress(AttributeError):  # nothing is there yet
                    found[name] = member.__get__(value)
    with suppress(AttributeError):  # it has slots alone
        found.update(object.__getattribute__(value, "__dict__"))
    return found
