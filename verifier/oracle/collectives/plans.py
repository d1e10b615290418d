"""Which runs show what can go wrong: one fault each, for every way that uniform branches may go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from verifier.contracts.protocols.code import Branch, Code, codes_of
from verifier.contracts.protocols.language import Agree, Local, Protocol

MOST_RUNS = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """The decisions of one run.

    Attributes:
        fails: (rank, local step) that raises; None where none does.
        taken: (rank, local branch) that is taken; None where none is.
        differs: label of the agreement that fails; None where all agree.
        uniform: the choice of each uniform branch.
    """

    fails: tuple[int, str] | None = None
    taken: tuple[int, str] | None = None
    differs: str | None = None
    uniform: Mapping[str, bool] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The plan in words."""
        words = [f"{name} {'holds' if value else 'does not hold'}" for name, value in self.uniform.items()]
        if self.fails is not None:
            words.insert(0, f"rank {self.fails[0]}: {self.fails[1]} raises")
        if self.taken is not None:
            words.insert(0, f"rank {self.taken[0]}: {self.taken[1]} holds")
        if self.differs is not None:
            words.insert(0, f"agreement {self.differs!r} fails")
        return ", ".join(words) or "no fault"


def plans(protocol: Protocol, ranks: int) -> Iterator[Plan]:
    """No fault; then each local step and each local branch, on one rank of each program; each agreement."""
    codes = codes_of(protocol, ranks)
    conditions = sorted({i.condition for code in codes for i in code if isinstance(i, Branch) and i.uniform})
    labels = dict.fromkeys(i.label for code in codes for i in code if isinstance(i, Agree))
    faulty = _one_of_each_program(codes)
    choices = (dict(zip(conditions, ways, strict=True)) for ways in _ways(len(conditions)))
    found = (plan for uniform in choices for plan in _with(uniform, codes, faulty, labels))
    yield from islice(found, MOST_RUNS)


def _ways(count: int) -> Iterator[tuple[bool, ...]]:
    """All rows of truth values, one after the other: of very many only the first are asked for."""
    return (tuple([bool(number >> (count - 1 - k) & 1) for k in range(count)]) for number in range(2**count))


def _with(
    uniform: Mapping[str, bool],
    codes: Sequence[Code],
    faulty: list[int],
    labels: Mapping[str, None],
) -> Iterator[Plan]:
    yield Plan(uniform=uniform)
    for rank in faulty:
        for instruction in codes[rank]:
            if isinstance(instruction, Local):
                yield Plan(fails=(rank, instruction.name), uniform=uniform)
            elif isinstance(instruction, Branch) and not instruction.uniform:
                yield Plan(taken=(rank, instruction.condition), uniform=uniform)
    for label in labels:
        yield Plan(differs=label, uniform=uniform)


def _one_of_each_program(codes: Sequence[Code]) -> list[int]:
    """The first of the ranks that do the same: those of one role in the same groups."""
    first: dict[int, int] = {}
    for rank, code in enumerate(codes):
        first.setdefault(id(code), rank)
    return sorted(first.values())
