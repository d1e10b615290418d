"""Explicit-state check of a protocol: S1 to S4 in every reachable state. Theory: T28.

Local steps of different ranks commute, so every rank is advanced to its next collective at once; then a group
whose members all wait in the same collective goes through it. States and instructions are counted, so that a
program of any size is answered or given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from verifier.contracts.protocols.code import Code, codes_of
from verifier.contracts.protocols.language import Agree, Collective, Protocol, Vote
from verifier.contracts.protocols.ranks import (
    Advance,
    Choices,
    OverBudgetError,
    RankState,
    Told,
    Work,
    advances,
    lines_of,
    raised,
)

MOST_STATES = 250_000
STEPS_FOR_A_STATE = 10
"""Instructions that may be looked at for each state that may be visited."""

Waiting = Vote | Agree | Collective


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a protocol goes wrong.

    Attributes:
        rule: S1: a rank waits for one that never comes; S2: members are in different collectives; S3: some
            return and some raise; S4: somebody has changed state although somebody raises.
        message: who does what, in one line.
        trace: the decisions that lead there, "rank 0: read raises", in order; as few phases as possible.
    """

    rule: str
    message: str
    trace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the search found.

    Attributes:
        violations: the first of each rule.
        states: how many states were visited.
        complete: False when the search stopped at its limit: then nothing is proved.
        ranks: in how large a world.
    """

    violations: tuple[Violation, ...]
    states: int
    complete: bool
    ranks: int

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that are violated, sorted."""
        return tuple(sorted(found.rule for found in self.violations))


@dataclass(frozen=True, slots=True)
class _World:
    ranks: tuple[RankState, ...]
    choices: Choices


_Parents = dict[_World, tuple[_World, tuple[Told, ...]]]
"""Where each world was come to from, and what each rank decided on the way."""


def simulate(protocol: Protocol, ranks: int | None = None, *, most_states: int = MOST_STATES) -> Simulation:
    """Search every state of the protocol in a world of ``ranks``; of ``least_ranks`` when None.

    Raises:
        TooLongError: the program is too long.
    """
    count = protocol.least_ranks if ranks is None else ranks
    search = _Search(protocol, count, most_states)
    try:
        search.run()
        complete = True
    except OverBudgetError:
        complete = False
    found = search.found
    return Simulation(tuple(found[rule] for rule in sorted(found)), len(search.parents), complete, count)


class _Search:
    """Breadth first, from the start of every rank."""

    def __init__(self, protocol: Protocol, ranks: int, most_states: int) -> None:
        self.found: dict[str, Violation] = {}
        self.parents: _Parents = {}
        self._protocol = protocol
        self._codes = codes_of(protocol, ranks)
        self._most_states = most_states
        self._work = Work(STEPS_FOR_A_STATE * most_states)
        self._queue: deque[_World] = deque()
        self._ways: dict[tuple[int, RankState, Choices], list[Advance]] = {}

    def run(self) -> None:
        """Visit every state.

        Raises:
            OverBudgetError: there are too many of them, or too much between two of them.
        """
        start = _World((RankState(),) * len(self._codes), ())
        self._visit(start, start)
        while self._queue:
            world = self._queue.popleft()
            for rule, message in _wrong(self._protocol, self._codes, world):
                if rule not in self.found:
                    self.found[rule] = Violation(rule, message, _trace(world, self.parents))
            for matched in _matched(self._protocol, self._codes, world):
                self._visit(matched, world)

    def _visit(self, matched: _World, parent: _World) -> None:
        """What becomes of a world that has just gone through a collective."""
        for world, told in self._advanced(matched.ranks, matched.choices):
            if world not in self.parents:
                if len(self.parents) >= self._most_states:
                    raise OverBudgetError
                self.parents[world] = (parent, told)
                self._queue.append(world)

    def _advanced(
        self, states: tuple[RankState, ...], choices: Choices, rank: int = 0
    ) -> Iterator[tuple[_World, tuple[Told, ...]]]:
        """The ranks from ``rank`` on at their next collectives or ends, with what was decided on the way."""
        if rank == len(states):
            self._work.spend(1)
            yield _World(states, choices), ()
            return
        for way in self._ways_of(self._codes[rank], states[rank], choices):
            following = (*states[:rank], way.state, *states[rank + 1 :])
            for world, told in self._advanced(following, way.choices, rank + 1):
                yield world, (way.told, *told)

    def _ways_of(self, code: Code, state: RankState, choices: Choices) -> list[Advance]:
        """What ``advances`` says, remembered: a rank is in one state in many worlds."""
        key = (id(code), state, choices)
        if key not in self._ways:
            self._ways[key] = list(advances(code, state, choices, self._work))
        return self._ways[key]


def _trace(world: _World, parents: _Parents) -> tuple[str, ...]:
    phases: list[list[str]] = []
    while world in parents:
        parent, told = parents[world]
        phases.append(
            [f"rank {rank}: {line}" for rank, decided in enumerate(told) for line in lines_of(decided)]
        )
        if parent == world:
            break
        world = parent
    return tuple([line for lines in reversed(phases) for line in lines])


def _waiting(codes: list[Code], world: _World) -> dict[int, Waiting]:
    """What each rank that still runs waits in."""
    found: dict[int, Waiting] = {}
    for rank, state in enumerate(world.ranks):
        instruction = codes[rank][state.at] if state.status == "running" else None
        if isinstance(instruction, Vote | Agree | Collective):
            found[rank] = instruction
    return found


def _ready(protocol: Protocol, waiting: dict[int, Waiting], ranks: int) -> Iterator[tuple[int, ...]]:
    """The members of each group that all wait in this group."""
    for group in protocol.groups:
        members = protocol.members(group, ranks)
        if members and all(rank in waiting and waiting[rank].group == group for rank in members):
            yield members


def _matched(protocol: Protocol, codes: list[Code], world: _World) -> Iterator[_World]:
    """What becomes of the world when one ready group goes through its collective."""
    waiting = _waiting(codes, world)
    for members in _ready(protocol, waiting, len(world.ranks)):
        operations = {waiting[rank] for rank in members}
        if len(operations) != 1:
            continue  # S2: what happens then is not defined
        operation = operations.pop()
        any_error = any(world.ranks[rank].error for rank in members)
        outcomes: list[bool] = [False, True] if isinstance(operation, Agree) else [False]
        for differ in outcomes:
            states = list(world.ranks)
            for rank in members:
                state = replace(states[rank], at=states[rank].at + 1)
                if isinstance(operation, Vote):
                    state = replace(state, agreed=any_error)
                states[rank] = raised(state) if differ else state
            yield _World(tuple(states), world.choices)
        return  # ready groups are disjoint and commute: any one of them first is enough


def _wrong(protocol: Protocol, codes: list[Code], world: _World) -> Iterator[tuple[str, str]]:
    """The rules that this world violates, with who does what."""
    waiting = _waiting(codes, world)
    ready = list(_ready(protocol, waiting, len(world.ranks)))
    mismatched = [members for members in ready if len({waiting[rank] for rank in members}) != 1]
    for members in mismatched:
        first = members[0]
        other = next(rank for rank in members if waiting[rank] != waiting[first])
        yield (
            "S2",
            (
                f"rank {first} is in {_words(waiting[first])}, rank {other} in {_words(waiting[other])} "
                f"of {waiting[first].group}"
            ),
        )
    if waiting and len(ready) == len(mismatched) and not mismatched:
        yield "S1", _stranded(protocol, waiting, world)
    if not waiting:
        yield from _ended(world)


def _stranded(protocol: Protocol, waiting: dict[int, Waiting], world: _World) -> str:
    rank, operation = next(iter(waiting.items()))
    for rank, operation in waiting.items():
        for other in protocol.members(operation.group, len(world.ranks)):
            if other not in waiting:
                status = world.ranks[other].status
                return f"rank {rank} waits in {_words(operation)} for rank {other}, which has {status}"
    members = protocol.members(operation.group, len(world.ranks))
    other = next(r for r in members if waiting[r].group != operation.group)
    return (
        f"rank {rank} waits in {_words(operation)} of {operation.group}, rank {other} in "
        f"{_words(waiting[other])} of {waiting[other].group}"
    )


def _ended(world: _World) -> Iterator[tuple[str, str]]:
    raising = [rank for rank, state in enumerate(world.ranks) if state.status == "raised"]
    mutated = [rank for rank, state in enumerate(world.ranks) if state.mutated]
    if raising and len(raising) < len(world.ranks):
        fine = next(rank for rank in range(len(world.ranks)) if rank not in raising)
        yield "S3", f"rank {raising[0]} raises, rank {fine} returns: the next operation strands one of them"
    if raising and mutated:
        yield "S4", f"rank {mutated[0]} has changed state, and rank {raising[0]} raises"


def _words(operation: Waiting) -> str:
    match operation:
        case Collective():
            label = f" {operation.label!r}" if operation.label else ""
            return f"{operation.kind}{label} ({operation.dtype} {list(operation.shape)} {operation.op})"
        case Agree():
            return f"agreement {operation.label!r}"
        case Vote():
            return f"vote {operation.label!r}"
