"""One rank between two collectives: every way in which it can get from one to the next, or to its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from verifier.contracts.protocols.code import Branch, Code, Enter, Jump, Leave
from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    Local,
    RaiseIfAgreed,
    RaiseIfError,
    Vote,
)

Status = Literal["running", "returned", "raised"]
Choices = tuple[tuple[str, bool], ...]
"""Uniform conditions that were decided, sorted."""
Told = tuple["Told", str] | None
"""Local decisions, a step that raised or a branch that was taken: those before the last, and the last.

Ways share their beginnings, so that long programs take little room.
"""


@dataclass(frozen=True, slots=True)
class RankState:
    """Where a rank is.

    Attributes:
        at: its next instruction; a collective where it waits.
        error: whether it has recorded an error.
        agreed: what its last vote said.
        mutated: whether it has changed state for good.
        handlers: where recorded errors lead to, the innermost last.
        status: whether it still runs.
    """

    at: int = 0
    error: bool = False
    agreed: bool = False
    mutated: bool = False
    handlers: tuple[int, ...] = ()
    status: Status = "running"


@dataclass(frozen=True, slots=True)
class Advance:
    """One way on: the state at the next collective or at the end, with the choices made on the way."""

    state: RankState
    choices: Choices
    told: Told


class OverBudgetError(Exception):
    """The search has done all the work that it may do."""


class Work:
    """How many instructions may still be looked at."""

    def __init__(self, left: int) -> None:
        self._left = left

    def spend(self, count: int) -> None:
        """Count so many.

        Raises:
            OverBudgetError: that was too many.
        """
        self._left -= count
        if self._left < 0:
            raise OverBudgetError


def advances(code: Code, state: RankState, choices: Choices, work: Work) -> Iterator[Advance]:
    """Every state of a running rank at its next collective or its end, each once.

    Ways that meet are followed once from there: of n steps that may raise in a row there are 2^n ways, but a
    rank remembers only that one of them has.

    Raises:
        OverBudgetError: there is more to look at than ``work`` allows.
    """
    stack = [Advance(state, choices, None)]
    seen: set[tuple[RankState, Choices]] = set()
    while stack:
        found = stack.pop()
        work.spend(1 + len(found.choices))
        if (found.state, found.choices) in seen:
            continue
        seen.add((found.state, found.choices))
        state = found.state
        if state.status != "running":
            yield found
            continue
        if state.at >= len(code):
            yield replace(found, state=replace(state, status="returned"))
            continue
        instruction = code[state.at]
        following = replace(state, at=state.at + 1)
        match instruction:
            case Vote() | Agree() | Collective():
                yield found
            case Local(name):
                stack.append(replace(found, state=raised(following), told=(found.told, f"{name} raises")))
                stack.append(replace(found, state=following))
            case Branch(condition, uniform, otherwise):
                stack += _branches(found, following, condition, uniform, otherwise)
            case Commit():
                stack.append(replace(found, state=replace(following, mutated=True)))
            case RaiseIfAgreed():
                stack.append(replace(found, state=raised(following) if state.agreed else following))
            case RaiseIfError():
                stack.append(replace(found, state=raised(following) if state.error else following))
            case Enter(end):
                stack.append(replace(found, state=replace(following, handlers=(*state.handlers, end))))
            case Leave():
                stack.append(replace(found, state=replace(following, handlers=state.handlers[:-1])))
            case Jump(target):
                stack.append(replace(found, state=replace(state, at=target)))


def lines_of(told: Told) -> list[str]:
    """The decisions in the order in which they were made."""
    lines: list[str] = []
    while told is not None:
        told, line = told
        lines.append(line)
    return lines[::-1]


def raised(state: RankState) -> RankState:
    """An error: recorded where somebody does that, else the end of the rank."""
    if not state.handlers:
        return replace(state, status="raised")
    return replace(state, at=state.handlers[-1], handlers=state.handlers[:-1], error=True)


def _branches(
    found: Advance, following: RankState, condition: str, uniform: bool, otherwise: int
) -> list[Advance]:
    jumped = replace(following, at=otherwise)
    known: Mapping[str, bool] = dict(found.choices)
    if not uniform:
        taken = (found.told, f"{condition} holds")
        return [replace(found, state=following, told=taken), replace(found, state=jumped)]
    if condition in known:
        return [replace(found, state=following if known[condition] else jumped)]
    return [
        replace(found, state=jumped, choices=_with(found.choices, condition, False)),
        replace(found, state=following, choices=_with(found.choices, condition, True)),
    ]


def _with(choices: Choices, condition: str, value: bool) -> Choices:
    return tuple(sorted((*choices, (condition, value))))
