"""The constructor on plain numbers: what it makes of one point, and what the concrete prover says of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.symbolic.domain import DomainError, Sizes
from verifier.symbolic.layout import SymbolicMap
from verifier.symbolic.paths import Choice
from verifier.symbolic.raised import words_of
from verifier.symbolic.reading import NoMapError, symbolic_map
from verifier.verdicts import Proved, Refuted, Verdict

MOST_PADDING = 1_000_000
"""Cells of padding that are listed for the concrete prover."""

Constructor = Callable[..., object]
"""Makes a map of its arguments; called by keyword."""

Judge = Callable[[ShardMap, Expectation], Verdict]
"""The concrete prover."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """The precondition does not admit the sizes."""


@dataclass(frozen=True, slots=True)
class Raises:
    """The constructor refuses the sizes."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Right:
    """The concrete prover proves the map."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """There is no such map, or the concrete prover refutes it."""

    made: ShardMap | None
    verdict: Verdict | None
    complaint: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """The concrete prover does not decide the map."""

    reason: str


Opinion = Excluded | Raises | Right | Wrong | Unsure


@dataclass(frozen=True, slots=True)
class Concrete:
    """A constructor under one choice, to be asked at points."""

    constructor: Constructor
    reference: Constructor | None
    over: Sizes
    choice: Choice
    judge: Judge

    def arguments(self, point: Mapping[str, int]) -> dict[str, object]:
        """The arguments that a point stands for."""
        return self.over.filled(self.choice, lambda name, _: point[name])

    def made(self, constructor: Constructor, point: Mapping[str, int]) -> SymbolicMap:
        """What a constructor makes of a point, in constants.

        Raises:
            NoMapError: it returns no map.
            Exception: whatever it raises.
        """
        return symbolic_map(constructor(**self.arguments(point)))

    def admits(self, point: Mapping[str, int]) -> bool:
        """Whether the precondition admits a point.

        Raises:
            DomainError: the precondition raises.
        """
        try:
            return self.over.admits(self.arguments(point))
        except Exception as error:
            raise DomainError(f"where raises {words_of(error)}") from error

    def refusal(self, point: Mapping[str, int]) -> str | None:
        """The exception of the constructor at a point as one line, None where it raises none."""
        try:
            self.made(self.constructor, point)
        except Exception as error:
            return words_of(error)
        return None

    def opinion(self, point: Mapping[str, int]) -> Opinion:
        """What there is to say of one point."""
        if not self.admits(point):
            return Excluded()
        try:
            made = self.made(self.constructor, point)
        except NoMapError as error:
            return Wrong(None, None, str(error))
        except Exception as error:
            if not self._reference_makes(point):
                return Raises(error)
            return Wrong(None, None, f"raises {words_of(error)}, but its reference makes a map")
        if made.padded_cells() > MOST_PADDING:
            return Unsure(f"more than {MOST_PADDING} elements of padding")
        try:
            shard_map = made.at({})
            expectation = Expectation(holes=made.holes({}))
        except ValueError as error:
            return Wrong(None, None, f"no map: {error}")
        if self.reference is not None:
            try:
                reference = self.made(self.reference, point).at({})
            except Exception as error:
                return Wrong(shard_map, None, f"the reference raises {words_of(error)}")
            expectation = replace(expectation, reference=reference)
        verdict = self.judge(shard_map, expectation)
        if isinstance(verdict, Proved):
            return Right()
        if isinstance(verdict, Refuted):
            if {fault.code for fault in verdict.faults} == {"SM109"}:  # no question of all sizes
                return Unsure("its addresses need more than 64 bits")
            return Wrong(shard_map, verdict, complaint(verdict))
        return Unsure(verdict.reason)

    def _reference_makes(self, point: Mapping[str, int]) -> bool:
        """Whether there is a reference, and it makes a map of the point."""
        if self.reference is None:
            return False
        try:
            self.made(self.reference, point)
        except Exception:  # then neither makes one
            return False
        return True


def complaint(verdict: Refuted) -> str:
    """The first fault as one line of codes and numbers."""
    fault = verdict.witness
    place = "" if fault.rank is None else f" on rank {fault.rank}"
    address = "" if fault.address is None else f" at {fault.side} address {fault.address}"
    return f"{fault.code}{place}{address}"
