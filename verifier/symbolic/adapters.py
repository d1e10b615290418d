"""Running constructors of others, unmodified, on symbolic sizes.

Code that writes ``int(size)`` or ``isinstance(size, int)`` would turn away a size that is as good as an int.
So its functions run as copies: the same code objects with another dictionary of globals, in which the name
``int`` lets sizes through, ``type`` says that it was asked of one and ``print`` is silent. Nothing of the
original module is changed, and no line of it is rewritten. The copies reach every function and class of the
modules that make maps, wherever they are named.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from verifier.symbolic.size import Size

AFFINE_CLASSES = ("AffinePiece", "ParamAffineMap")
"""A module that names both of these makes maps in DeepSpeed's form."""


class _IntegerLike(type):
    """``isinstance(size, int)`` is true, and ``int(size)`` is the size."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (builtins.int, Size))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (builtins.int, Size))

    def __call__(cls, *values: Any, **options: Any) -> Any:
        if len(values) == 1 and not options and isinstance(values[0], Size):
            return values[0]
        return builtins.int(*values, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(builtins.int, name)


class Integer(metaclass=_IntegerLike):
    """What the name ``int`` means in a copy."""


class _TypeLike(type):
    """``type(size)`` leaves the fragment; of anything else it is the type."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, builtins.type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, builtins.type)

    def __call__(cls, *values: Any, **options: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], Size):
            values[0].decider.leave(
                "the type of a size, as in type(size) is int; isinstance(size, int) may be asked"
            )
        return builtins.type(*values, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(builtins.type, name)


class Type(metaclass=_TypeLike):
    """What the name ``type`` means in a copy."""


class _Copied(type):
    """``isinstance(value, Copy)`` is also true of instances of the original."""

    original: type

    def __instancecheck__(cls, value: object) -> bool:
        return super().__instancecheck__(value) or isinstance(value, cls.original)

    def __subclasscheck__(cls, kind: type) -> bool:
        return super().__subclasscheck__(kind) or issubclass(kind, cls.original)


def unprinted(*values: object, **options: object) -> None:
    """What the name ``print`` means in a copy: the text of a size goes nowhere."""


def traceable(constructor: Callable[..., object]) -> Callable[..., object]:
    """A copy of a constructor that symbolic sizes can pass through; what is no Python function stays.

    The verifier's own constructors stay as well: its model admits sizes by itself.
    """
    if isinstance(constructor, partial):
        return partial(traceable(constructor.func), *constructor.args, **constructor.keywords)
    if not isinstance(constructor, FunctionType) or constructor.__module__.partition(".")[0] == "verifier":
        return constructor
    copied: Callable[..., object] = _Copies().function(constructor)
    return copied


class _Copies:
    """The copies made for one constructor, each module once."""

    def __init__(self) -> None:
        self._globals: dict[int, dict[str, Any]] = {}
        self._made: dict[int, Any] = {}
        self._originals: list[Any] = []

    def function(self, original: FunctionType) -> FunctionType:
        """The same code in copied globals."""
        known = self._made.get(id(original))
        if isinstance(known, FunctionType):
            return known
        closure = None
        cells = original.__closure__
        if cells is not None:
            closure = tuple([CellType() for _ in cells])
        copy = FunctionType(
            original.__code__,
            self._copied_globals(original.__globals__),
            original.__name__,
            original.__defaults__,
            closure,
        )
        copy.__kwdefaults__ = original.__kwdefaults__
        copy.__qualname__, copy.__module__ = original.__qualname__, original.__module__
        self._remember(original, copy)
        for cell, theirs in zip(closure or (), cells or (), strict=True):
            try:
                cell.cell_contents = self._value(theirs.cell_contents)
            except ValueError:  # a name that is not bound yet
                continue
        return copy

    def _copied_globals(self, original: dict[str, Any]) -> dict[str, Any]:
        if id(original) not in self._globals:
            copy = dict(original)
            self._globals[id(original)] = copy
            copy.setdefault("int", Integer)
            copy.setdefault("type", Type)
            copy.setdefault("print", unprinted)
            for name, value in original.items():
                copy[name] = self._value(value, original)
        return self._globals[id(original)]

    def _value(self, value: Any, home: dict[str, Any] | None = None) -> Any:
        """A copy of what makes maps or stands in the same module; everything else as it is."""
        if id(value) in self._made:
            return self._made[id(value)]
        if isinstance(value, FunctionType):
            return (
                self.function(value) if value.__globals__ is home or _makes_maps(value.__globals__) else value
            )
        if isinstance(value, ModuleType) and _makes_maps(vars(value)):
            return self._module(value)
        if isinstance(value, type):
            scope = _scope(value)
            if scope is not None and (scope is home or _makes_maps(scope)):
                return self._class(value)
        return value

    def _module(self, original: ModuleType) -> ModuleType:
        copy = ModuleType(original.__name__)
        self._remember(original, copy)
        vars(copy).update(self._copied_globals(vars(original)))
        return copy

    def _class(self, original: type) -> type:
        """The same class of copied methods; exceptions and classes with ``super`` or a metaclass stay as is.

        The instances of either class are instances of the other's copy: arguments are made of the original.
        """
        own = {
            name: value
            for name, value in vars(original).items()
            if not isinstance(value, MemberDescriptorType) and name not in ("__dict__", "__weakref__")
        }
        methods = [value for value in own.values() if isinstance(value, FunctionType)]
        if (
            type(original) is not type
            or issubclass(original, BaseException)  # whoever catches it may not be a copy
            or any("__class__" in one.__code__.co_freevars for one in methods)
        ):
            return original
        copy = _Copied(
            original.__name__, original.__bases__, {name: self._member(value) for name, value in own.items()}
        )
        copy.original = original
        self._remember(original, copy)
        return copy

    def _member(self, value: Any) -> Any:
        if isinstance(value, FunctionType):
            return self.function(value)
        if isinstance(value, staticmethod | classmethod):
            return type(value)(self._member(value.__func__))
        if isinstance(value, property):
            return property(*[one and self._member(one) for one in (value.fget, value.fset, value.fdel)])
        return value

    def _remember(self, original: Any, copy: Any) -> None:
        self._made[id(original)] = copy
        self._originals.append(original)  # so that no other object gets its id


def _makes_maps(scope: dict[str, Any]) -> bool:
    return all(name in scope for name in AFFINE_CLASSES)


def _scope(kind: type) -> dict[str, Any] | None:
    """The globals of the module of a class, by one of its methods."""
    for value in vars(kind).values():
        if isinstance(value, FunctionType) and value.__module__ == kind.__module__:
            return value.__globals__
    return None
