"""Strict reading of a JSON value: every member is asked for, and none may be left over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar, cast

from verifier.diagnostics.finding import Json

T = TypeVar("T")


class ReportFormatError(ValueError):
    """A document that is not a report of this schema. ``pointer`` is the JSON pointer of the wrong value."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer or 'the document'}: {message}")
        self.pointer = pointer


class Field:
    """A JSON value with the place it stands at."""

    def __init__(self, value: Json, pointer: str = "") -> None:
        self._value = value
        self.pointer = pointer

    def refused(self, message: str) -> ReportFormatError:
        """The error to raise about this value."""
        return ReportFormatError(self.pointer, message)

    def _expected(self, what: str) -> ReportFormatError:
        return self.refused(f"expected {what}, found {_kind(self._value)}")

    def members(self, *names: str, newer: Collection[str] = ()) -> tuple[Field, ...]:
        """The members of an object that has exactly these.

        One of ``newer`` may be missing, in reports of versions that did not have it: it is null then.
        """
        value = self._object()
        unknown = sorted(value.keys() - set(names))
        missing = [name for name in names if name not in value and name not in newer]
        if missing:
            raise self.refused(f"has no member {missing[0]!r}")
        if unknown:
            raise self.refused(f"has an unknown member {unknown[0]!r}")
        return tuple([self._child(name, value.get(name)) for name in names])

    def items(self) -> tuple[tuple[str, Field], ...]:
        """The members of an object with free names."""
        return tuple([(name, self._child(name, value)) for name, value in self._object().items()])

    def elements(self, read: Callable[[Field], T]) -> tuple[T, ...]:
        """The elements of a list, each read by ``read``."""
        if not isinstance(self._value, list):
            raise self._expected("a list")
        return tuple([read(self._child(str(k), value)) for k, value in enumerate(self._value)])

    def pair(self) -> tuple[Field, Field]:
        """The two elements of a list of two."""
        found = self.elements(lambda field: field)
        if len(found) != 2:
            raise self.refused(f"expected two elements, found {len(found)}")
        return found[0], found[1]

    def optional(self, read: Callable[[Field], T]) -> T | None:
        """None for null, else what ``read`` says."""
        return None if self._value is None else read(self)

    def text(self) -> str:
        """A text."""
        if not isinstance(self._value, str):
            raise self._expected("a text")
        return self._value

    def integer(self, most: int | None = None) -> int:
        """An integer that is not negative: every number of a report outside a witness counts something."""
        if not isinstance(self._value, int) or isinstance(self._value, bool):
            raise self._expected("an integer")
        if self._value < 0:
            raise self.refused(f"expected a number from 0 on, found {self._value}")
        if most is not None and self._value > most:
            raise self.refused(f"expected a number up to {most}")
        return self._value

    def boolean(self) -> bool:
        """Either truth value."""
        if not isinstance(self._value, bool):
            raise self._expected("true or false")
        return self._value

    def one_of(self, choices: Sequence[T]) -> T:
        """One of a few words."""
        if self._value not in choices:
            raise self.refused(f"expected one of {', '.join(map(str, choices))}")
        return cast("T", self._value)

    def anything(self) -> Json:
        """The value as it is."""
        return self._value

    def _object(self) -> Mapping[str, Json]:
        if not isinstance(self._value, dict):
            raise self._expected("an object")
        return self._value

    def _child(self, key: str, value: Json) -> Field:
        return Field(value, f"{self.pointer}/{key.replace('~', '~0').replace('/', '~1')}")


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
