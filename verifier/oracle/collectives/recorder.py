"""What each rank asked of its process groups, and where the ranks first asked for different things.

    with recorded(group, "data", log):          # on every rank, around code that calls torch.distributed
        step()
    ...
    divergence = first_divergence([log_of_rank_0, log_of_rank_1])

Records are written before the call is made, so that a rank that never comes back has told what it waits for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

RECORDED = (
    "all_reduce",
    "broadcast",
    "reduce",
    "all_gather",
    "all_gather_into_tensor",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "all_to_all",
    "all_to_all_single",
    "gather",
    "scatter",
    "barrier",
    "all_gather_object",
    "broadcast_object_list",
)
"""The functions of ``torch.distributed`` that are recorded."""


@dataclass(frozen=True, slots=True)
class Record:
    """One call: which group, the how manieth there, and everything that has to match."""

    group: str
    sequence: int
    kind: str
    op: str
    dtype: str
    shape: tuple[int, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first call in a group that two ranks do not share; None where one of them made no more calls."""

    group: str
    sequence: int
    ranks: tuple[int, int]
    records: tuple[Record | None, Record | None]

    @property
    def told(self) -> str:
        """The divergence in one line."""
        words = [
            "makes no more calls"
            if record is None
            else f"calls {record.kind} ({record.dtype} {list(record.shape)} {record.op})"
            for record in self.records
        ]
        return (
            f"call {self.sequence} of group {self.group}: rank {self.ranks[0]} {words[0]}, "
            f"rank {self.ranks[1]} {words[1]}"
        )


class Log:
    """The records of one rank, kept in memory and, where a path is given, on disk as they come."""

    def __init__(self, path: Path | None = None) -> None:
        self.records: list[Record] = []
        self._path = path
        self._next: dict[str, int] = {}

    def add(self, group: str, kind: str, op: str, dtype: str, shape: tuple[int, ...], label: str) -> None:
        """One call, before it is made."""
        sequence = self._next.get(group, 0)
        self._next[group] = sequence + 1
        record = Record(group, sequence, kind, op, dtype, shape, label)
        self.records.append(record)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(record)) + "\n")


def read_log(path: Path) -> list[Record]:
    """The records that a rank wrote, whether or not it came to its end."""
    records: list[Record] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        value = json.loads(line)
        records.append(Record(**{**value, "shape": tuple(value["shape"])}))
    return records


@contextmanager
def recorded(names: Mapping[Any, str], log: Log, *, label: str = "") -> Iterator[None]:
    """Record every call of this process to ``torch.distributed`` within the block.

    ``names`` are the groups by handle; a call without a group is in the group "world".
    """
    with mock.patch.multiple(
        dist, **{name: _wrapped(getattr(dist, name), name, names, log, label) for name in RECORDED}
    ):
        yield


def _wrapped(function: Any, kind: str, names: Mapping[Any, str], log: Log, label: str) -> Any:
    def call(*arguments: Any, **keywords: Any) -> Any:
        group = keywords.get("group")
        group = next((a for a in arguments if isinstance(a, dist.ProcessGroup)), group)
        tensor = next((t for t in _tensors([*arguments, *keywords.values()])), None)
        op = next((a for a in arguments if isinstance(a, dist.ReduceOp | dist.ReduceOp.RedOpType)), None)
        op = keywords.get("op", op)
        log.add(
            names.get(group, "world") if group is not None else "world",
            kind,
            "" if op is None else str(op),
            "" if tensor is None else str(tensor.dtype),
            () if tensor is None else tuple(tensor.shape),
            label,
        )
        return function(*arguments, **keywords)

    return call


def _tensors(values: Sequence[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def first_divergence(logs: Sequence[Sequence[Record]]) -> Divergence | None:
    """Where two ranks first do different things in a group; None where all logs agree."""
    by_rank = [_by_group(log) for log in logs]
    groups = sorted({group for found in by_rank for group in found})
    first: list[Divergence] = []
    for group in groups:
        members = [rank for rank, found in enumerate(by_rank) if group in found]
        for other in members[1:]:
            found = _differing(group, members[0], other, by_rank)
            if found is not None:
                first.append(found)
    return min(first, key=lambda found: found.sequence, default=None)


def _differing(
    group: str, one: int, other: int, by_rank: Sequence[Mapping[str, Sequence[Record]]]
) -> Divergence | None:
    here, there = by_rank[one][group], by_rank[other][group]
    for sequence in range(max(len(here), len(there))):
        pair = (
            here[sequence] if sequence < len(here) else None,
            there[sequence] if sequence < len(there) else None,
        )
        if pair[0] != pair[1]:
            return Divergence(group, sequence, (one, other), pair)
    return None


def _by_group(log: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in log:
        found.setdefault(record.group, []).append(record)
    return found
