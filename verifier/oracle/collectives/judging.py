"""From how ranks ended to the rules that a protocol broke on real process groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from verifier.contracts.protocols.language import Protocol
from verifier.oracle.collectives.plans import plans
from verifier.oracle.collectives.running import WAIT_SECONDS, Ended, run


@dataclass(frozen=True, slots=True)
class Seen:
    """A rule that was broken in a run, and the plan of that run in words."""

    rule: str
    told: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of a protocol, the first run of each rule, and how many runs there were."""

    seen: tuple[Seen, ...]
    runs: int

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that were broken, sorted."""
        return tuple(sorted(found.rule for found in self.seen))


def observe(
    protocol: Protocol, ranks: int | None = None, *, wait_seconds: float = WAIT_SECONDS
) -> Observation:
    """Run a protocol on gloo under every plan."""
    count = protocol.least_ranks if ranks is None else ranks
    found: dict[str, Seen] = {}
    runs = 0
    for plan in plans(protocol, count):
        runs += 1
        for rule in broken(run(protocol, plan, count, wait_seconds=wait_seconds)):
            found.setdefault(rule, Seen(rule, plan.told))
    return Observation(tuple(found[rule] for rule in sorted(found)), runs)


def broken(ended: Sequence[Ended]) -> Iterator[str]:
    """The rules that a run broke. Whoever waits for a mismatched member is not stranded by itself."""
    ways = {found.how for found in ended}
    if "mismatched" in ways:
        yield "S2"
        return
    if "stranded" in ways:
        yield "S1"
        return
    if "raised" in ways and ways != {"raised"}:
        yield "S3"
    if "raised" in ways and any(found.mutated for found in ended):
        yield "S4"
