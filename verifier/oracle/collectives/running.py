"""One run of a protocol on gloo: a thread and raw process groups for each rank, all in this process.

Before each operation the members exchange what they are about to do: gloo pairs whatever comes next, ends the
process where sizes differ, and says nothing where only the operation does. What they exchange is always of
one size, so a mismatch is seen before it is done.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import prod
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import AllgatherOptions, HashStore, PrefixStore

from verifier.contracts.protocols.code import Branch, Code, Enter, Jump, Leave, code_of
from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    Local,
    Protocol,
    RaiseIfAgreed,
    RaiseIfError,
    Vote,
)
from verifier.oracle.collectives.plans import Plan

WAIT_SECONDS = 0.5
CONNECT = timedelta(seconds=60)
"""How long ranks may take to find each other, before the program begins: that is no wait of the program."""
HEADER = 32
MOST_ELEMENTS = 1024
"""Elements that are really sent. The header has the whole shape; what is sent decides nothing."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How one rank ended: returned, raised, stranded (its wait ran out), mismatched; and what it changed.

    "crashed" where it ended otherwise: then nothing was seen.
    """

    how: str
    mutated: bool
    where: str = ""


class _RaisedError(Exception):
    """The program raised."""


class _MismatchError(Exception):
    """Another member is about to do something else."""


class _StrandedError(Exception):
    """A member did not come in time."""


def run(protocol: Protocol, plan: Plan, ranks: int, *, wait_seconds: float = WAIT_SECONDS) -> list[Ended]:
    """How each rank ends under a plan. Every wait is bounded."""
    store = HashStore()
    ended: list[Ended | None] = [None] * ranks
    done = threading.Barrier(ranks)

    def work(rank: int) -> None:
        try:
            groups = _groups(protocol, store, rank, ranks)
            ended[rank] = _Machine(protocol, plan, rank, groups, wait_seconds).run()
        finally:
            done.wait()  # the groups of a rank that is gone would reset its peers, and hide that they wait

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found if found is not None else Ended("crashed", False) for found in ended]


def _groups(protocol: Protocol, store: Any, rank: int, ranks: int) -> Mapping[str, Any]:
    """The groups that this rank is in. Every rank makes them in the same order."""
    groups: dict[str, Any] = {}
    for name in sorted(protocol.groups):
        members = protocol.members(name, ranks)
        if rank in members:
            prefixed = PrefixStore(name, store)
            groups[name] = dist.ProcessGroupGloo(prefixed, members.index(rank), len(members), CONNECT)
    return groups


class _Machine:
    """Runs the instructions of one rank."""

    def __init__(
        self, protocol: Protocol, plan: Plan, rank: int, groups: Mapping[str, Any], wait_seconds: float
    ) -> None:
        self._plan = plan
        self._wait = timedelta(seconds=wait_seconds)
        self._rank = rank
        self._groups = groups
        self._code: Code = code_of(protocol, rank)
        self._at = 0
        self._error = self._agreed = self._mutated = False
        self._handlers: list[int] = []

    def run(self) -> Ended:
        """Until the end, whichever it is."""
        where = ""
        try:
            while self._at < len(self._code):
                instruction = self._code[self._at]
                self._at += 1
                where = str(getattr(instruction, "label", ""))
                try:
                    self._do(instruction)
                except _RaisedError:
                    if not self._handlers:
                        return Ended("raised", self._mutated)
                    self._error = True
                    self._at = self._handlers.pop()
        except _StrandedError:
            return Ended("stranded", self._mutated, where)
        except _MismatchError:
            return Ended("mismatched", self._mutated, where)
        return Ended("returned", self._mutated)

    def _do(self, instruction: object) -> None:
        match instruction:
            case Local(name):
                if self._plan.fails == (self._rank, name):
                    raise _RaisedError
            case Branch(condition, uniform, otherwise):
                taken = (
                    self._plan.uniform.get(condition, False)
                    if uniform
                    else self._plan.taken == (self._rank, condition)
                )
                self._at = self._at if taken else otherwise
            case Enter(end):
                self._handlers.append(end)
            case Leave():
                self._handlers.pop()
            case Jump(target):
                self._at = target
            case Commit():
                self._mutated = True
            case RaiseIfAgreed() if self._agreed:
                raise _RaisedError
            case RaiseIfError() if self._error:
                raise _RaisedError
            case Vote() | Agree() | Collective():
                self._communicate(instruction)

    def _communicate(self, operation: Vote | Agree | Collective) -> None:
        group = self._groups.get(operation.group)
        if group is None:
            return
        try:
            self._same_operation(group, operation)
            match operation:
                case Vote():
                    flag = torch.tensor([int(self._error)])
                    self._reduce(group, flag, dist.ReduceOp.MAX)
                    self._agreed = bool(flag.item())
                case Agree(_, label):
                    mine = torch.tensor([int(self._plan.differs == label and group.rank() == 0)])
                    self._reduce(group, mine, dist.ReduceOp.MAX)
                    if mine.item():
                        raise _RaisedError
                case Collective():
                    sent = min(MOST_ELEMENTS, prod(operation.shape))
                    self._reduce(group, torch.ones(max(1, sent)), dist.ReduceOp.SUM)
        except RuntimeError as error:  # the only thing gloo says when somebody does not come
            raise _StrandedError from error

    def _same_operation(self, group: Any, operation: object) -> None:
        """Every member does the same thing next."""
        digest = hashlib.sha256(repr(operation).encode()).digest()[:HEADER]
        mine = torch.tensor(list(digest), dtype=torch.uint8)
        headers = [torch.empty_like(mine) for _ in range(group.size())]
        options = AllgatherOptions()
        options.timeout = self._wait
        group.allgather([headers], [mine], options).wait()
        if any(not torch.equal(header, mine) for header in headers):
            raise _MismatchError

    def _reduce(self, group: Any, tensor: torch.Tensor, op: Any) -> None:
        options = dist.AllreduceOptions()
        options.reduceOp = op
        options.timeout = self._wait
        group.allreduce([tensor], options).wait()
