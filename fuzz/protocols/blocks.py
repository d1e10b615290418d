"""The blocks of a protocol, its rows of steps, each by the way that leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.contracts.protocols.language import (
    IfLocal,
    IfRole,
    IfUniform,
    Protocol,
    Repeat,
    Step,
    Try,
)

Steps = tuple[Step, ...]
Way = tuple[tuple[int, str], ...]
"""Position of a step in its block, and which of its blocks comes next, again and again."""


def blocks(steps: Steps, way: Way = ()) -> Iterator[tuple[Way, Steps]]:
    """Every block, the outermost first."""
    yield way, steps
    for at, step in enumerate(steps):
        for part in _parts(step):
            yield from blocks(getattr(step, part), (*way, (at, part)))


def _parts(step: Step) -> tuple[str, ...]:
    match step:
        case Try() | Repeat():
            return ("body",)
        case IfUniform() | IfLocal() | IfRole():
            return ("then", "otherwise")
    return ()


def with_block(protocol: Protocol, way: Way, block: Steps) -> Protocol:
    """The protocol with another block at that place."""
    return replace(protocol, steps=_replaced(protocol.steps, way, block))


def _replaced(steps: Steps, way: Way, block: Steps) -> Steps:
    if not way:
        return block
    at, part = way[0]
    step = steps[at]
    inner = _replaced(getattr(step, part), way[1:], block)
    changed: Step = replace(step, **{part: inner})  # type: ignore[arg-type]  # the part is one of this step
    return (*steps[:at], changed, *steps[at + 1 :])
