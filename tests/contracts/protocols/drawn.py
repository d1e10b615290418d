"""Random protocols in which no two collectives are alike."""

from __future__ import annotations

import random
from itertools import count

from verifier.contracts.protocols.language import (
    Collective,
    Commit,
    IfLocal,
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


def draw_protocol(rng: random.Random) -> Protocol:
    """Two groups, nested tries, local and uniform branches, short loops."""
    numbers = count()

    def steps(depth: int) -> tuple[Step, ...]:
        return tuple(step(depth) for _ in range(rng.randint(1, 3)))

    def step(depth: int) -> Step:
        number = next(numbers)
        group = rng.choice(("a", "a", "b"))
        choices = ["local", "vote", "voted", "collective", "commit", "agreed", "error"]
        choices += ["try", "uniform", "branch", "repeat"] if depth < 2 else []
        match rng.choice(choices):
            case "local":
                return Local(f"step {number}")
            case "vote":
                return Vote(group, f"vote {number}")
            case "voted":
                return Try((Local(f"step {number}"),))
            case "collective":
                return Collective(group, "all_reduce", f"collective {number}")
            case "commit":
                return Commit()
            case "agreed":
                return RaiseIfAgreed()
            case "error":
                return RaiseIfError()
            case "try":
                return Try(steps(depth + 1))
            case "uniform":
                return IfUniform(f"choice {number}", steps(depth + 1), steps(depth + 1))
            case "branch":
                return IfLocal(f"branch {number}", steps(depth + 1), steps(depth + 1))
        return Repeat(2, steps(depth + 1))

    body = steps(0)
    preamble = (Try((Local("prepare"),)), Vote("a", "first vote"), RaiseIfAgreed())
    return Protocol(
        name="drawn", steps=preamble + body if rng.random() < 0.5 else body, groups={"a": None, "b": None}
    )
