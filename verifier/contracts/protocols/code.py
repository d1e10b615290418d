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

    Raises:
        TooLongError: there are too many of them.
    """
    code: list[Instruction] = []
    _emit(protocol.steps, protocol.roles.get(rank), code, "")
    return tuple(code)


def _emit(steps: tuple[Step, ...], role: str | None, code: list[Instruction], turn: str) -> None:
    for step in steps:
        if len(code) > MOST_INSTRUCTIONS:
            raise TooLongError(f"more than {MOST_INSTRUCTIONS} instructions; repeat less often")
        match step:
            case Local():
                code.append(Local(step.name + turn))
            case Try():
                _emit_try(step, role, code, turn)
            case IfRole():
                _emit(step.then if role == step.role else step.otherwise, role, code, turn)
            case IfUniform() | IfLocal():
                _emit_branch(step, role, code, turn)
            case Repeat():
                for number in range(step.times):
                    _emit(step.body, role, code, f"{turn}#{number}")
            case _:
                code.append(step)


def _emit_try(step: Try, role: str | None, code: list[Instruction], turn: str) -> None:
    at = len(code)
    code.append(Leave())
    _emit(step.body, role, code, turn)
    code.append(Leave())
    code[at] = Enter(len(code))


def _emit_branch(step: IfUniform | IfLocal, role: str | None, code: list[Instruction], turn: str) -> None:
    at = len(code)
    code.append(Leave())
    _emit(step.then, role, code, turn)
    end = len(code)
    code.append(Leave())
    otherwise = len(code)
    _emit(step.otherwise, role, code, turn)
    code[end] = Jump(len(code))
    code[at] = Branch(step.condition + turn, isinstance(step, IfUniform), otherwise)
