"""The program of one rank as flat instructions: roles decided, loops unrolled, branches as jumps."""

from __future__ import annotations

from dataclasses import dataclass

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

MOST_INSTRUCTIONS = 100_000


class TooLongError(Exception):
    """The unrolled program is too long."""


@dataclass(frozen=True, slots=True)
class Enter:
    """Errors from here on are recorded and lead to ``end``."""

    end: int


@dataclass(frozen=True, slots=True)
class Leave:
    """The recorded part is over."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Go on, or to ``otherwise``; the choice is named, and the same for all ranks where it is uniform."""

    condition: str
    uniform: bool
    otherwise: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go to ``target``."""

    target: int


Instruction = (
    Local | Vote | Agree | Collective | Commit | RaiseIfAgreed | RaiseIfError | Enter | Leave | Branch | Jump
)

Code = tuple[Instruction, ...]


def code_of(protocol: Protocol, rank: int) -> Code:
    """The instructions of a rank.

    Choices and local steps inside loops are numbered by the round, so that each round decides anew.
    Collectives of a group that the rank is not in are left out: it passes them by.

    Raises:
        TooLongError: there are too many of them.
    """
    return codes_of(protocol, rank + 1, first=rank)[0]


def codes_of(protocol: Protocol, ranks: int, *, first: int = 0) -> list[Code]:
    """The instructions of each rank from ``first`` on; ranks of one role in the same groups share them.

    Raises:
        TooLongError: there are too many of them, all different ones together.
    """
    made: dict[tuple[str | None, frozenset[str]], Code] = {}
    codes: list[Code] = []
    steps = 0
    for rank in range(first, ranks):
        others = frozenset(
            name for name, members in protocol.groups.items() if members is not None and rank not in members
        )
        key = (protocol.roles.get(rank), others)
        if key not in made:
            emitter = _Emitter(*key, steps)
            emitter.emit(protocol.steps, "")
            made[key], steps = tuple(emitter.code), emitter.steps
        codes.append(made[key])
    return codes


class _Emitter:
    """Unrolls the program of one role outside of ``others``, some groups; ``steps`` were unrolled before."""

    def __init__(self, role: str | None, others: frozenset[str], steps: int) -> None:
        self.code: list[Instruction] = []
        self.steps = steps
        self._role = role
        self._others = others

    def emit(self, steps: tuple[Step, ...], turn: str) -> None:
        """The instructions of some steps in one round of the loops around them."""
        for step in steps:
            self._count()
            match step:
                case Local():
                    self.code.append(Local(step.name + turn))
                case Try():
                    self._emit_try(step, turn)
                case IfRole():
                    self.emit(step.then if self._role == step.role else step.otherwise, turn)
                case IfUniform() | IfLocal():
                    self._emit_branch(step, turn)
                case Repeat():
                    for number in range(step.times):
                        self._count()
                        self.emit(step.body, f"{turn}#{number}")
                case Vote() | Agree() | Collective() if step.group in self._others:
                    pass
                case _:
                    self.code.append(step)

    def _count(self) -> None:
        """Rounds count like steps: a loop around nothing takes its time, too."""
        self.steps += 1
        if self.steps > MOST_INSTRUCTIONS:
            raise TooLongError(f"more than {MOST_INSTRUCTIONS} steps; repeat less often")

    def _emit_try(self, step: Try, turn: str) -> None:
        at = len(self.code)
        self.code.append(Leave())
        self.emit(step.body, turn)
        self.code.append(Leave())
        self.code[at] = Enter(len(self.code))

    def _emit_branch(self, step: IfUniform | IfLocal, turn: str) -> None:
        at = len(self.code)
        self.code.append(Leave())
        self.emit(step.then, turn)
        end = len(self.code)
        self.code.append(Leave())
        otherwise = len(self.code)
        self.emit(step.otherwise, turn)
        self.code[end] = Jump(len(self.code))
        self.code[at] = Branch(step.condition + turn, isinstance(step, IfUniform), otherwise)
