"""The sizes a constructor is to be right for: its arguments by name, and a precondition on them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import product

LARGEST = 2**63 - 1
"""No size from which all is asked may begin beyond."""

Where = Callable[..., object]
"""A predicate on arguments, by their names; its own comparisons are traced."""


@dataclass(frozen=True, slots=True)
class AnySize:
    """One argument, or one place in a tuple of them, that is any integer from ``least`` on."""

    least: int


@dataclass(frozen=True, slots=True)
class ManySizes:
    """A list of sizes. ``count`` is their number, or the name of the argument that is."""

    count: int | str
    least: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value handed over as it is."""

    value: object


@dataclass(frozen=True, slots=True)
class Atom:
    """A symbolic size: its name, as in messages, and its least value."""

    name: str
    least: int


def size(least: int = 0) -> AnySize:
    """Any size from ``least`` on.

    Raises:
        DomainError: ``least`` is negative, or no int.
    """
    return AnySize(_least(least))


def sizes(count: int | str, least: int = 0) -> ManySizes:
    """A list of ``count`` sizes, each from ``least`` on; a name stands for that argument's value.

    Raises:
        DomainError: ``least`` is negative.
    """
    return ManySizes(count, _least(least))


def _least(least: int) -> int:
    if type(least) is not int:
        raise DomainError(f"a size from {least!r} on; the least size is a plain int, as in size(1)")
    if not 0 <= least <= LARGEST:
        raise DomainError(f"a size from {least} on; sizes are from 0 to 2**63 - 1")
    return least


def fixed(value: object) -> Fixed:
    """A list or range that is a value, not a choice."""
    return Fixed(value)


class DomainError(ValueError):
    """The domain describes no sizes at all, or not what its constructor takes."""


class Sizes:
    """A domain: each argument of a constructor by name.

    ``size()`` is any size, ``sizes(n)`` a list of n of them, a tuple is a tuple of such things. A list or a
    range is a choice: the constructor is proved for each of its values apart, as for numbers of ranks.
    Everything else, and what is in ``fixed``, is handed over as it is. ``where`` takes some of the arguments
    by their names and says whether the constructor has to be right for them.

    Raises:
        DomainError: a choice without a value, a number of sizes that is none, an unknown name in ``where``.
    """

    def __init__(self, *, where: Where | None = None, **arguments: object) -> None:
        self.arguments: Mapping[str, object] = arguments
        self._where = where
        self._asked: tuple[str, ...] = () if where is None else self._names(where)
        for name, value in arguments.items():
            if not re.fullmatch(r"\w+", name):
                raise DomainError(f"the argument {name!r}: a name is made of letters, digits and underscores")
            if isinstance(value, list | range) and not value:
                raise DomainError(
                    f"{name} is a choice without a value; wrap a list that is a value in fixed()"
                )

    def choices(self) -> Iterator[dict[str, object]]:
        """Every way to choose, the last argument fastest; only the arguments that are choices."""
        chosen = {name: value for name, value in self.arguments.items() if isinstance(value, list | range)}
        for values in product(*chosen.values()):
            yield dict(zip(chosen, values, strict=True))

    def atoms(self, choice: Mapping[str, object]) -> list[Atom]:
        """The symbolic sizes, in the order of the arguments."""
        found: list[Atom] = []

        def note(name: str, least: int) -> None:
            found.append(Atom(name, least))

        self.filled(choice, note)
        return found

    def filled(self, choice: Mapping[str, object], value: Callable[[str, int], object]) -> dict[str, object]:
        """All arguments, ``value`` being asked for each size by its name and least value."""
        return {
            name: self._filled(name, choice.get(name, spec), choice, value)
            for name, spec in self.arguments.items()
        }

    def admits(self, arguments: Mapping[str, object]) -> bool:
        """Whether the precondition holds."""
        if self._where is None:
            return True
        return bool(self._where(**{name: arguments[name] for name in self._asked}))

    def _filled(
        self, name: str, spec: object, choice: Mapping[str, object], value: Callable[[str, int], object]
    ) -> object:
        match spec:
            case AnySize(least):
                return value(name, least)
            case ManySizes(count, least):
                return [value(f"{name}[{k}]", least) for k in range(self._count(name, count, choice))]
            case tuple():
                return tuple([self._filled(f"{name}[{k}]", one, choice, value) for k, one in enumerate(spec)])
            case Fixed(inner):
                spec = inner
        try:
            return deepcopy(spec)  # a constructor that changes it would change its next run
        except Exception as error:
            raise DomainError(
                f"{name} cannot be copied for each run ({type(error).__name__}: {error})"
            ) from error

    def _count(self, name: str, count: int | str, choice: Mapping[str, object]) -> int:
        number = choice.get(count, self.arguments.get(count)) if isinstance(count, str) else count
        if type(number) is not int or number < 0:
            raise DomainError(
                f"the number of sizes in {name} is {number!r}; give a plain int or the name of one"
            )
        return number

    def _names(self, where: Where) -> tuple[str, ...]:
        parameters = inspect.signature(where).parameters.values()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return tuple(self.arguments)
        unknown = [
            parameter.name
            for parameter in parameters
            if parameter.name not in self.arguments and parameter.default is parameter.empty
        ]
        if unknown:
            raise DomainError(f"where asks for {', '.join(unknown)}, which the domain does not name")
        return tuple([parameter.name for parameter in parameters if parameter.name in self.arguments])
