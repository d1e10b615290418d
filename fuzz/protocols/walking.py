"""A protocol run rank by rank along its steps, as written: the definition that the checkers are held against.

Every rank is a generator that stops at each collective; errors are exceptions. What is decided on the way, a
step that raises or a branch that is taken, is asked of the caller, so that one run can follow a plan and all
runs together are every decision. Nothing is shared with the search but the language.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    IfLocal,
    IfRole,
    IfUniform,
    Local,
    Protocol,
    RaiseIfAgreed,
    RaiseIfError,
    Repeat,
    Step,
    Try,
    Vote,
)

Operation = Vote | Agree | Collective
Decide = Callable[["Question"], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """One decision of a run: whether a step raises, a branch is taken or an agreement fails.

    ``rank`` is None where all ranks share it.
    """

    kind: str
    name: str
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class WalkEnd:
    """How one rank ended: returned, raised, stranded or mismatched; and whether it had changed state."""

    how: str
    mutated: bool


class _RaisedError(Exception):
    """The program raised."""


@dataclass(slots=True)
class _Walker:
    """One rank: its flags, and what it waits in."""

    rank: int
    role: str | None
    error: bool = False
    agreed: bool = False
    mutated: bool = False
    fails: bool = False
    how: str = "running"
    waits_in: Operation | None = None
    going: Generator[Operation, None, None] | None = None


@dataclass(slots=True)
class _Walk:
    protocol: Protocol
    ranks: int
    decide: Decide
    uniform: dict[str, bool] = field(default_factory=dict)

    def steps(self, walker: _Walker, steps: tuple[Step, ...], turn: str) -> Generator[Operation, None, None]:
        for step in steps:
            yield from self._step(walker, step, turn)

    def _step(self, walker: _Walker, step: Step, turn: str) -> Generator[Operation, None, None]:
        match step:
            case Local(name):
                if self.decide(Question("raises", name + turn, walker.rank)):
                    raise _RaisedError
            case RaiseIfAgreed() if walker.agreed:
                raise _RaisedError
            case RaiseIfError() if walker.error:
                raise _RaisedError
            case Commit():
                walker.mutated = True
            case Try(body):
                try:
                    yield from self.steps(walker, body, turn)
                except _RaisedError:
                    walker.error = True
            case Repeat(times, body):
                for number in range(times):
                    yield from self.steps(walker, body, f"{turn}#{number}")
            case IfRole() | IfUniform() | IfLocal():
                taken = step.then if self._taken(walker, step, turn) else step.otherwise
                yield from self.steps(walker, taken, turn)
            case Vote() | Agree() | Collective():
                if walker.rank in self.protocol.members(step.group, self.ranks):
                    yield step
                    if walker.fails:
                        walker.fails = False
                        raise _RaisedError

    def _taken(self, walker: _Walker, step: IfRole | IfUniform | IfLocal, turn: str) -> bool:
        if isinstance(step, IfRole):
            return walker.role == step.role
        name = step.condition + turn
        if isinstance(step, IfLocal):
            return self.decide(Question("holds", name, walker.rank))
        if name not in self.uniform:
            self.uniform[name] = self.decide(Question("holds", name))
        return self.uniform[name]

    def go_on(self, walker: _Walker) -> None:
        """To the next collective or the end."""
        assert walker.going is not None  # noqa: S101
        walker.waits_in = None
        try:
            walker.waits_in = next(walker.going)
        except StopIteration:
            walker.how = "returned"
        except _RaisedError:
            walker.how = "raised"


def walk(protocol: Protocol, ranks: int, decide: Decide) -> list[WalkEnd]:
    """Run the protocol once, asking for each decision as it comes up; every run ends."""
    run = _Walk(protocol, ranks, decide)
    walkers = [_Walker(rank, protocol.roles.get(rank)) for rank in range(ranks)]
    for walker in walkers:
        walker.going = run.steps(walker, protocol.steps, "")
        run.go_on(walker)
    while (ready := _ready(protocol, walkers)) is not None:
        operation = ready[0].waits_in
        if isinstance(operation, Vote):
            heard = any(walker.error for walker in ready)
            for walker in ready:
                walker.agreed = heard
        if isinstance(operation, Agree):
            differs = decide(Question("differs", operation.label))
            for walker in ready:
                walker.fails = differs
        for walker in ready:
            run.go_on(walker)
    for walker in walkers:
        if walker.how == "running":
            walker.how = "stranded"
    return [WalkEnd(walker.how, walker.mutated) for walker in walkers]


def _ready(protocol: Protocol, walkers: list[_Walker]) -> list[_Walker] | None:
    """The members of a group that are all in one collective of it; those that are in different ones end."""
    for group in protocol.groups:
        members = [walkers[rank] for rank in protocol.members(group, len(walkers))]
        waits = [walker.waits_in for walker in members if walker.how == "running"]
        if not members or len(waits) < len(members):
            continue
        if any(operation is None or operation.group != group for operation in waits):
            continue
        if len(set(waits)) == 1:
            return members
        for walker in members:
            walker.how = "mismatched"
    return None


def rules_of(ended: list[WalkEnd]) -> frozenset[str]:
    """The rules that a run broke; whoever waits for a mismatched member is not stranded by itself."""
    ways = {found.how for found in ended}
    if "mismatched" in ways:
        return frozenset({"S2"})
    if "stranded" in ways:
        return frozenset({"S1"})
    broken = {"S3"} if "raised" in ways and ways != {"raised"} else set()
    if "raised" in ways and any(found.mutated for found in ended):
        broken.add("S4")
    return frozenset(broken)


def all_walks(protocol: Protocol, ranks: int, *, most: int) -> Iterator[list[WalkEnd]]:
    """Every run, by every decision, ``most`` at most."""
    decisions: list[bool] = []
    for _ in range(most):
        at = 0

        def decide(question: Question) -> bool:
            nonlocal at
            if at == len(decisions):
                decisions.append(False)
            at += 1
            return decisions[at - 1]

        yield walk(protocol, ranks, decide)
        while decisions and decisions[-1]:
            decisions.pop()
        if not decisions:
            return
        decisions[-1] = True


def rules_by_walks(protocol: Protocol, ranks: int, *, most: int = 20_000) -> frozenset[str] | None:
    """The rules that some run breaks; None where there are more than ``most`` runs."""
    found: set[str] = set()
    runs = 0
    for ended in all_walks(protocol, ranks, most=most + 1):
        runs += 1
        found |= rules_of(ended)
    return frozenset(found) if runs <= most else None
