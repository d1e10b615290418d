"""What is said of a constructor over a domain. Only the first of four is a proof for all sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.model.shard_map import ShardMap
from verifier.symbolic.certificate import Certificate
from verifier.symbolic.claims import Claim
from verifier.symbolic.paths import Choice, ProvedPath, Refusal
from verifier.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class ProvedForAll:
    """Right for every size of the domain for which the constructor does not raise.

    Attributes:
        paths: every way through the constructor that returns.
        refusals: every way that raises.
        empty: choices for which the precondition admits no sizes.
        certificate: what the proof rests on, as text.
    """

    paths: tuple[ProvedPath, ...]
    refusals: tuple[Refusal, ...]
    empty: tuple[Choice, ...]
    certificate: Certificate

    @property
    def conditions(self) -> tuple[tuple[Claim, ...], ...]:
        """The condition of each path."""
        return tuple([path.condition for path in self.paths])


@dataclass(frozen=True, slots=True)
class RefutedAt:
    """Wrong for these sizes.

    Attributes:
        sizes: the arguments of the constructor.
        made: the map it makes of them, None where there is no such map (a negative extent, say).
        verdict: of the concrete prover on that map, None without one.
        complaint: what is wrong, in one line.
        least: True when no sizes of a smaller sum fail under the same choice, and none of that sum that come
            before in the order of the arguments.
        refusals: the ways that raise.
    """

    sizes: Mapping[str, object]
    made: ShardMap | None
    verdict: Verdict | None
    complaint: str
    least: bool
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class ProvedOnPart:
    """Right on a stated part of the domain; nothing is said of the rest.

    Attributes:
        part: which part.
        reason: why not on all of it.
        judged: concrete maps that were proved one by one.
        outside: True where some way needs what only a number can do.
        paths: the ways proved for all their sizes.
        refusals: the ways that raise.
    """

    part: str
    reason: str
    judged: int
    outside: bool = True
    paths: tuple[ProvedPath, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither proved nor refuted, and why."""

    reason: str
    refusals: tuple[Refusal, ...] = ()


Result = ProvedForAll | RefutedAt | ProvedOnPart | Undecided
