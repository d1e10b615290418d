"""One way through a constructor: its symbolic run, and the same with plain numbers at a few of its points.

Code may do with a size what a size cannot notice: ask for its type, compare it by identity, read a clock. The
proof would then be about other code than what runs. So a few points of each way are tried.

Theory: T19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from verifier.geometry.integers import admitting
from verifier.symbolic.concrete import Concrete, Constructor
from verifier.symbolic.facts import Facts
from verifier.symbolic.layout import SymbolicMap
from verifier.symbolic.polynomial import atom
from verifier.symbolic.raised import words_of
from verifier.symbolic.reading import NoMapError, symbolic_map
from verifier.symbolic.size import OutsideFragmentError, Size
from verifier.symbolic.tracing import Raised, Tracer

SHIFTS = ((0,), (1,), (1, 0), (0, 2, 1))
"""By how much the atoms of a known point are increased in turn, to get at others."""


class PreconditionError(Exception):
    """The precondition itself raised; its cause says what."""


@dataclass(frozen=True, slots=True)
class Outside:
    """The precondition does not admit the sizes of this way."""


@dataclass(frozen=True, slots=True)
class RaisesAlone:
    """The constructor raises, and its reference makes a map."""

    text: str


@dataclass(frozen=True, slots=True)
class Maps:
    """What a way returned."""

    made: SymbolicMap
    reference: SymbolicMap | None


def traced(concrete: Concrete, tracer: Tracer) -> Maps | RaisesAlone | Outside:
    """Run precondition, constructor and reference on symbolic sizes.

    Raises:
        PreconditionError: the precondition raises.
        OutsideFragmentError: the run is worthless.
        Exception: whatever the constructor raises.
    """
    tracer.watch.outliving.note_module(concrete.constructor)

    def arguments() -> dict[str, object]:
        return concrete.over.filled(concrete.choice, lambda name, _: Size(atom(name), tracer))

    try:
        admitted = concrete.over.admits(arguments())
    except Exception as error:
        raise PreconditionError(f"where raises {words_of(error)}") from error
    if not admitted:
        return Outside()
    reference: object = None
    with admitting(Size):
        try:
            made = concrete.constructor(**arguments())
        except OutsideFragmentError:
            raise
        except Exception as error:
            if concrete.reference is None or _refuses(concrete.reference, arguments(), tracer):
                raise
            return RaisesAlone(words_of(error))
        if concrete.reference is not None:
            try:
                reference = concrete.reference(**arguments())
            except Exception as error:
                tracer.leave(f"the reference raises {words_of(error)}")
    try:
        return Maps(symbolic_map(made), None if concrete.reference is None else symbolic_map(reference))
    except NoMapError as error:
        tracer.leave(f"returns {error}")


def _refuses(reference: Constructor, arguments: dict[str, object], tracer: Tracer) -> bool:
    """Whether the reference raises as well, where the constructor has raised.

    Raises:
        OutsideFragmentError: the run is worthless.
    """
    tracer.watch.texts.forget()  # what was told is in that exception, and looked at no more
    try:
        reference(**arguments)
    except OutsideFragmentError:
        raise
    except Exception:  # its answer, not a failure of ours
        return True
    return False


def difference(concrete: Concrete, facts: Facts, outcome: Maps | Raised | Outside) -> str | None:
    """What happens otherwise with plain numbers at a few points, None when the same happens."""
    for point in _samples(facts):
        found = _difference_at(concrete, point, outcome)
        if found is not None:
            return f"symbolic sizes and plain ones differ at {concrete.arguments(point)}: {found}"
    return None


def _samples(facts: Facts) -> Iterator[Mapping[str, int]]:
    if facts.point is None:
        return
    left = facts.atoms_left()
    for shifts in SHIFTS:
        values = {name: facts.point[name] + shifts[k % len(shifts)] for k, name in enumerate(left)}
        point = facts.completed(values)
        if point is not None:
            yield point


def _difference_at(
    concrete: Concrete, point: Mapping[str, int], outcome: Maps | Raised | Outside
) -> str | None:
    admitted = concrete.admits(point)
    if isinstance(outcome, Outside):
        return "the precondition admits the latter only" if admitted else None
    if not admitted:
        return "the precondition admits the former only"
    if isinstance(outcome, Maps):
        return _other_map(concrete, concrete.constructor, point, outcome.made) or _other_map(
            concrete, concrete.reference, point, outcome.reference
        )
    try:
        concrete.made(concrete.constructor, point)
    except Exception as error:
        if _name(error) == _name(outcome.error):
            return None
        return f"{outcome.text}, but {words_of(error)}"
    return f"only the former raise {outcome.text}"


def _name(error: Exception) -> tuple[str, str]:
    """Of its class; one that is defined inside of a function is another class each time."""
    return type(error).__module__, type(error).__qualname__


def _other_map(
    concrete: Concrete,
    constructor: Constructor | None,
    point: Mapping[str, int],
    expected: SymbolicMap | None,
) -> str | None:
    """What is wrong with the map that a constructor makes of numbers, if it is not the expected one."""
    if constructor is None or expected is None:
        return None
    try:
        made = concrete.made(constructor, point)
    except Exception as error:
        return f"the latter raise {words_of(error)}"
    return None if made.without_empty({}) == expected.without_empty(point) else "the maps differ"
