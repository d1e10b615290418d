"""The language of protocols.

A rank program is a list of steps. Local steps may raise on one rank and not on another; a try records the
error and goes on; a vote tells every member of a group whether any of them has recorded one. Branches are
uniform (every rank takes the same one), local (each rank decides for itself) or by role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Local:
    """A step of one rank that may raise."""

    name: str


@dataclass(frozen=True, slots=True)
class Try:
    """Steps whose first error is recorded; the program goes on behind them."""

    body: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    """All members of a group learn whether one of them has recorded an error. Clears nothing."""

    group: str
    label: str = "vote"


@dataclass(frozen=True, slots=True)
class Agree:
    """All members compare a value: either it is equal, or all of them raise."""

    group: str
    label: str


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective of a group. Members match when all of this is equal."""

    group: str
    kind: str
    label: str = ""
    dtype: str = "float32"
    shape: tuple[int, ...] = (1,)
    op: str = "sum"


@dataclass(frozen=True, slots=True)
class Commit:
    """State is changed for good."""

    name: str = "state"


@dataclass(frozen=True, slots=True)
class RaiseIfAgreed:
    """Raise when the last vote found an error anywhere."""


@dataclass(frozen=True, slots=True)
class RaiseIfError:
    """Raise when this rank has recorded an error, whatever the others did."""


@dataclass(frozen=True, slots=True)
class IfUniform:
    """A branch that all ranks take alike."""

    condition: str
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class IfLocal:
    """A branch that each rank takes for itself."""

    condition: str
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class IfRole:
    """A branch by the role of the rank."""

    role: str
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """Steps that are done a fixed number of times."""

    times: int
    body: tuple[Step, ...]


Step = (
    Local
    | Try
    | Vote
    | Agree
    | Collective
    | Commit
    | RaiseIfAgreed
    | RaiseIfError
    | IfUniform
    | IfLocal
    | IfRole
    | Repeat
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A program and who runs it.

    Attributes:
        name: of the protocol.
        steps: the program; the same for every rank but for roles.
        groups: the ranks of each group, ascending; None for all ranks. Other ranks pass its votes, agreements
            and collectives by, as they do in torch.
        roles: the role of each rank that has one; ranks beyond the largest one have none.
    """

    name: str
    steps: tuple[Step, ...]
    groups: Mapping[str, tuple[int, ...] | None] = field(default_factory=lambda: {"world": None})
    roles: Mapping[int, str] = field(default_factory=dict)

    def members(self, group: str, ranks: int) -> tuple[int, ...]:
        """The ranks of a group in a world of ``ranks``."""
        named = self.groups[group]
        return tuple(range(ranks)) if named is None else tuple(r for r in named if r < ranks)

    @property
    def apart(self) -> frozenset[int]:
        """The ranks that have a role or are in a group of some ranks; all *others* are alike."""
        return frozenset({*self.roles, *[rank for members in self.groups.values() for rank in members or ()]})

    @property
    def is_open(self) -> bool:
        """Whether there may be any number of others: they take part in what some group of all ranks does."""
        return None in self.groups.values()

    @property
    def fewest_ranks(self) -> int:
        """The smallest world that has every rank that the protocol names."""
        return max(self.apart, default=0) + 1

    @property
    def least_ranks(self) -> int:
        """The smallest world that goes wrong if one of any size does: with two others. Theory: T30."""
        return max(self.fewest_ranks, 2, len(self.apart) + 2 if self.is_open else 0)
