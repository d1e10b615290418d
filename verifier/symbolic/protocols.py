"""A protocol as a formula: the cross-check of the explicit-state checker. Theory: T28.

All ranks run the program in step. Each local step of each rank is a Boolean (it raises), each local branch of
each rank another (it is taken), each uniform branch one for all, each agreement one for its group. A step is
known by its place: two of one name decide each for itself, only a uniform condition is the same everywhere in
a round. A collective site that one member reaches and another does not strands somebody (S1) or pairs
different collectives (S2): at this level one thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import z3

from verifier.contracts.protocols.code import codes_of
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


@dataclass(frozen=True, slots=True)
class FormulaAnswer:
    """What can happen, by z3: ``mismatch`` stands for S1 or S2. None where the solver gave up."""

    mismatch: bool | None
    outcomes_differ: bool | None
    mutated_and_raised: bool | None

    @property
    def safe(self) -> bool | None:
        """Whether nothing can go wrong."""
        answers = (self.mismatch, self.outcomes_differ, self.mutated_and_raised)
        if any(answers):
            return False
        return None if None in answers else True


@dataclass(slots=True)
class _Rank:
    """One rank along the program: formulas over the choices."""

    role: str | None
    error: Any = field(default_factory=lambda: z3.BoolVal(False))
    agreed: Any = field(default_factory=lambda: z3.BoolVal(False))
    mutated: Any = field(default_factory=lambda: z3.BoolVal(False))
    raised: Any = field(default_factory=lambda: z3.BoolVal(False))


def check_formula(protocol: Protocol, ranks: int | None = None, *, rlimit: int = 50_000_000) -> FormulaAnswer:
    """Decide the protocol by z3 in a world of ``ranks``; of ``least_ranks`` when None.

    Raises:
        TooLongError: the program is too long.
    """
    count = protocol.least_ranks if ranks is None else ranks
    codes_of(protocol, count)
    run = _Run(protocol, [_Rank(protocol.roles.get(rank)) for rank in range(count)])
    guards = [z3.BoolVal(True)] * count
    run.steps(protocol.steps, guards, "", [None] * count)
    raised = [rank.raised for rank in run.ranks]
    differ = z3.And(z3.Or(*raised), z3.Not(z3.And(*raised)))
    mutated = z3.And(z3.Or(*raised), z3.Or(*[rank.mutated for rank in run.ranks]))
    matched = z3.Not(z3.Or(*run.mismatches)) if run.mismatches else z3.BoolVal(True)
    return FormulaAnswer(
        _possible(z3.Not(matched), rlimit),
        _possible(z3.And(matched, differ), rlimit),
        _possible(z3.And(matched, mutated), rlimit),
    )


def _possible(formula: Any, rlimit: int) -> bool | None:
    solver = z3.Solver()
    solver.set("rlimit", rlimit)
    solver.add(formula)
    result = solver.check()
    return None if result == z3.unknown else bool(result == z3.sat)


class _Run:
    """The program, step by step, for all ranks at once.

    ``guards[r]`` says when rank r is at this place; where it is in a try, an error clears its guard and sets
    its error, elsewhere it ends the rank.
    """

    def __init__(self, protocol: Protocol, ranks: list[_Rank]) -> None:
        self.protocol = protocol
        self.ranks = ranks
        self.mismatches: list[Any] = []
        self._decisions = 0

    def _decision(self, name: str) -> Any:
        """A choice of its own, whatever else has the name."""
        self._decisions += 1
        return z3.Bool(f"decision {self._decisions} {name}")

    def steps(self, steps: tuple[Step, ...], guards: list[Any], turn: str, caught: list[Any]) -> list[Any]:
        """The guards behind the steps. ``caught[r]`` is not None inside a try: errors are recorded."""
        for step in steps:
            guards = self._step(step, guards, turn, caught)
        return guards

    def _step(self, step: Step, guards: list[Any], turn: str, caught: list[Any]) -> list[Any]:
        match step:
            case Local(name):
                fails = [self._decision(f"{name}{turn}@{r}") for r in range(len(guards))]
                return self._raise(guards, fails, caught)
            case Try(body):
                self.steps(body, list(guards), turn, [True] * len(guards))
                return [
                    z3.And(guard, z3.Not(rank.raised)) for guard, rank in zip(guards, self.ranks, strict=True)
                ]
            case RaiseIfAgreed():
                return self._raise(guards, [rank.agreed for rank in self.ranks], caught)
            case RaiseIfError():
                return self._raise(guards, [rank.error for rank in self.ranks], caught)
            case Commit():
                for guard, rank in zip(guards, self.ranks, strict=True):
                    rank.mutated = z3.Or(rank.mutated, guard)
                return guards
            case Vote() | Agree() | Collective():
                return self._collective(step, guards, turn, caught)
            case Repeat(times, body):
                for number in range(times):
                    guards = self.steps(body, guards, f"{turn}#{number}", caught)
                return guards
            case IfRole() | IfUniform() | IfLocal():
                return self._branch(step, guards, turn, caught)

    def _branch(
        self, step: IfRole | IfUniform | IfLocal, guards: list[Any], turn: str, caught: list[Any]
    ) -> list[Any]:
        taken: list[Any] = []
        for r, rank in enumerate(self.ranks):
            match step:
                case IfRole(role):
                    taken.append(z3.BoolVal(rank.role == role))
                case IfUniform(condition):
                    taken.append(z3.Bool(f"everywhere {condition}{turn}"))
                case IfLocal(condition):
                    taken.append(self._decision(f"{condition}{turn}@{r}"))
        then = [z3.And(g, t) for g, t in zip(guards, taken, strict=True)]
        otherwise = [z3.And(g, z3.Not(t)) for g, t in zip(guards, taken, strict=True)]
        roles = {rank.role == step.role for rank in self.ranks} if isinstance(step, IfRole) else {True, False}
        if True in roles:  # what no rank can come to may be of any length
            then = self.steps(step.then, then, turn, caught)
        if False in roles:
            otherwise = self.steps(step.otherwise, otherwise, turn, caught)
        return [z3.Or(a, b) for a, b in zip(then, otherwise, strict=True)]

    def _raise(self, guards: list[Any], fails: list[Any], caught: list[Any]) -> list[Any]:
        behind: list[Any] = []
        for guard, failed, rank, inside in zip(guards, fails, self.ranks, caught, strict=True):
            here = z3.And(guard, failed)
            if inside is None:
                rank.raised = z3.Or(rank.raised, here)
            else:
                rank.error = z3.Or(rank.error, here)
            behind.append(z3.And(guard, z3.Not(failed)))
        return behind

    def _collective(
        self, step: Vote | Agree | Collective, guards: list[Any], turn: str, caught: list[Any]
    ) -> list[Any]:
        members = self.protocol.members(step.group, len(guards))
        first = guards[members[0]] if members else None
        self.mismatches += [first != guards[r] for r in members[1:]]
        if isinstance(step, Vote):
            heard = z3.Or(*[z3.And(guards[r], self.ranks[r].error) for r in members])
            for r in members:
                self.ranks[r].agreed = z3.If(guards[r], heard, self.ranks[r].agreed)
        if isinstance(step, Agree):
            differ = self._decision(f"{step.label}{turn} differs")
            outside = set(range(len(guards))) - set(members)
            fails = [z3.BoolVal(False) if r in outside else differ for r in range(len(guards))]
            return self._raise(guards, fails, caught)
        return guards
