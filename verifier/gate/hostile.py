"""Bad arguments: those of a call that is right, one at a time replaced by what a caller should not give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.symbolic.constructor import prove_constructor
from verifier.symbolic.domain import DomainError, Sizes
from verifier.symbolic.paths import Choice, ProvedPath
from verifier.symbolic.results import ProvedForAll
from verifier.verdicts import Undecided, Verdict

FAR = 100
"""Past the end of any list in an example, and of any axis."""
HUGE = (2**63, 2**100)


@dataclass(frozen=True, slots=True)
class BadCall:
    """One call with one bad argument.

    Attributes:
        argument: which, with the place inside it: ``widths[0]``.
        kind: what is bad about it.
        value: what was put there.
        arguments: all of them.
    """

    argument: str
    kind: str
    value: object
    arguments: Mapping[str, object]


def example(over: Sizes) -> Mapping[str, object]:
    """Arguments that a domain admits, different sizes being different numbers where that is possible.

    Raises:
        DomainError: none were found.
    """
    result = prove_constructor(_nothing, over, judge=_unasked)
    found = example_on(result.paths if isinstance(result, ProvedForAll) else (), over)
    if found is None:
        raise DomainError("no arguments were found that the precondition admits")
    return found


def example_on(paths: Sequence[ProvedPath], over: Sizes) -> Mapping[str, object] | None:
    """Arguments that go one of these ways, None where none are known.

    Preferred are numbers of at least 2, in what is chosen before sizes: one rank forgives too much.
    """
    points = [(path.choice, path.facts.point) for path in paths if path.facts.point is not None]
    if not points:
        return None

    def small(found: tuple[Choice, Mapping[str, int]]) -> tuple[bool, bool]:
        choice, point = found
        sizes = [point[one.name] for one in over.atoms(choice)]
        return any(_is_small(value) for value in choice.values()), any(map(_is_small, sizes))

    choice, point = min(points, key=small)
    return over.filled(choice, lambda name, _: point[name])


def _is_small(value: object) -> bool:
    return type(value) is int and value < 2


def bad_calls(arguments: Mapping[str, object]) -> Iterator[BadCall]:
    """Every call with one argument replaced, in the order of the arguments."""
    for name, value in arguments.items():
        for place, kind, bad in _bad(name, value):
            yield BadCall(place, kind, bad.value, {**deepcopy(dict(arguments)), name: bad.whole})


@dataclass(frozen=True, slots=True)
class _Bad:
    """What was put somewhere, and the whole argument with it."""

    value: object
    whole: object


_Found = Iterator[tuple[str, str, _Bad]]


def _bad(place: str, value: object) -> _Found:
    """Bad values of one argument, or of one place inside it: (place, what is bad about it, the value)."""
    for kind, bad in _instead(value):
        yield place, kind, _Bad(bad, bad)
    if isinstance(value, list | tuple):
        for at in dict.fromkeys((0, len(value) - 1) if value else ()):
            yield from _inside(f"{place}[{at}]", value[at], _putting(value, at))
    if isinstance(value, dict):
        for key in dict.fromkeys((next(iter(value)), next(reversed(value))) if value else ()):
            yield from _inside(f"{place}[{key!r}]", value[key], _putting(value, key))


def _inside(place: str, value: object, put: Callable[[object], object]) -> _Found:
    for where, kind, bad in _bad(place, value):
        yield where, kind, _Bad(bad.value, put(bad.whole))


def _putting(whole: Any, at: Any) -> Callable[[object], object]:
    def put(bad: object) -> object:
        copy = dict(whole) if isinstance(whole, dict) else list(whole)
        copy[at] = bad
        return tuple(copy) if isinstance(whole, tuple) else copy

    return put


def _instead(value: object) -> list[tuple[str, object]]:
    match value:
        case bool():
            return [("text", "no"), ("number", 2), ("None", None)]
        case int():
            return _instead_of_number(value)
        case float():
            odd = [("zero", 0.0), ("negative", -value), ("infinite", float("inf")), ("NaN", float("nan"))]
            return [*odd, ("tiny", 1e-60), ("text", repr(value)), ("None", None)]
        case str():
            return [("another text", f"no {value}"), ("empty text", ""), ("number", 3), ("None", None)]
        case list() | tuple():
            return _instead_of_list(value)
        case dict():
            return _instead_of_dict(value)
    return [("None", None), ("number", 3)]


def _instead_of_number(value: int) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = [
        ("zero", 0),
        ("negative", -1),
        ("one more", value + 1),
        ("out of range", value + FAR),
        ("bool", True),
        ("float", 2.5),
        ("float", 4.0),
        ("float", float(value)),
        ("text", str(value)),
        ("None", None),
        *[("huge", number) for number in HUGE],
    ]
    distinct = {(type(one), one): (kind, one) for kind, one in found if (type(one), one) != (int, value)}
    return list(distinct.values())


def _instead_of_list(value: list[Any] | tuple[Any, ...]) -> list[tuple[str, object]]:
    kind = type(value)

    def made(entries: list[Any]) -> object:
        return kind(deepcopy(entries))

    entries = list(value)
    found: list[tuple[str, object]] = [("empty", made([]))] if entries else []
    if len(entries) > 1:
        found.append(("truncated", made(entries[:-1])))
        if entries[0] != entries[-1]:
            found.append(("duplicate", made([*entries[:-1], entries[0]])))
    if entries:
        found.append(("too long", made([*entries, entries[-1]])))
    if len(entries) > 1 and all(type(one) is int for one in entries) and entries[-1] > 0:
        found.append(("compensating", made([entries[0] + 1, *entries[1:-1], entries[-1] - 1])))
    return [*found, ("no list", entries[0] if entries else 3), ("text", "42"), ("None", None)]


def _instead_of_dict(value: dict[Any, Any]) -> list[tuple[str, object]]:
    keys = list(value)
    found: list[tuple[str, object]] = [("empty", {})]
    if len(keys) > 1:
        found.append(("truncated", {key: value[key] for key in keys[:-1]}))
        found.append(("duplicate", {**value, keys[-1]: deepcopy(value[keys[0]])}))
        fractions = {keys[0]: 0.2, keys[1]: 0.7}
        if all(type(key) is int for key in keys):
            found.append(("fractional keys", {fractions.get(key, key): value[key] for key in keys}))
            found.append(("negative key", {(-1 if key == keys[0] else key): value[key] for key in keys}))
    return [*found, ("list", list(value.values())), ("None", None)]


def _nothing(**_arguments: object) -> ShardMap:
    """A right map, whatever the sizes."""
    element = StridedView(0, (), ())
    return ShardMap(
        name="nothing", logical_shape=(), ranks={0: RankShard((), (Piece(element, element, (0,)),))}
    )


def _unasked(_shard_map: ShardMap, _expectation: Expectation) -> Verdict:
    return Undecided("not asked", ())
