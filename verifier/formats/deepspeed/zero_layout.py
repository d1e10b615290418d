"""Where ZeRO puts parameters: the arithmetic of its flat buffers, in elements.

Stages 1 and 2 put the parameters of a group one after another into one buffer, pad it to a multiple of
2 * ranks (of ranks, in the first releases), and cut it into equal partitions. Stage 3 cuts every parameter by
itself into parts of ceil(numel / ranks) and puts the parts of a rank one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

Fragment = tuple[int, int, int]
"""A run of a flattened parameter on one rank: first element there, first element in the partition, length."""

UNITS = (2, 1)
"""What the length of a partition is a multiple of: 4 bytes of 16-bit numbers, and nothing in old releases."""


@dataclass(frozen=True, slots=True)
class FlatBuffer:
    """The buffer of one group in stages 1 and 2.

    Attributes:
        numels: elements of its parameters, in order.
        starts: where each of them begins.
        end: where the padding at the end begins.
        ranks: how many partitions it is cut into.
        partition: elements of one.
    """

    numels: tuple[int, ...]
    starts: tuple[int, ...]
    end: int
    ranks: int
    partition: int

    def padding(self, rank: int) -> int:
        """How much of the padding at the end is in the partition of a rank."""
        return min(max((rank + 1) * self.partition - self.end, 0), self.partition)

    def lengths(self, rank: int) -> list[int]:
        """The lengths that the partition of a rank is stored with: whole, or without padding.

        Old releases cut all of the padding off the last partition by a slice, which counts from its end where
        the padding is longer than the partition.
        """
        allowed = [self.partition - self.padding(rank), self.partition]
        if rank == self.ranks - 1:
            whole = self.ranks * self.partition - self.end
            allowed.append(len(range(self.partition)[: self.partition - whole]))
        return list(dict.fromkeys(allowed))

    def paddings(self, rank: int) -> list[int]:
        """What a file may state as the padding of a rank; old releases state all of it for the last one."""
        whole = self.ranks * self.partition - self.end if rank == self.ranks - 1 else 0
        return list(dict.fromkeys([self.padding(rank), whole]))

    def fragment(self, position: int, rank: int) -> Fragment:
        """The part of the parameter at ``position`` that a rank has; its length is 0 when there is none."""
        start = self.starts[position]
        low = max(start, rank * self.partition)
        high = min(start + self.numels[position], (rank + 1) * self.partition)
        return low - start, low - rank * self.partition, max(high - low, 0)

    def fragments(self, position: int) -> Iterator[tuple[int, Fragment]]:
        """(rank, fragment) of the ranks that have some of the parameter at ``position``."""
        if not self.numels[position]:
            return
        start = self.starts[position]
        last = (start + self.numels[position] - 1) // self.partition
        for rank in range(start // self.partition, last + 1):
            yield rank, self.fragment(position, rank)


def flat_buffers(numels: Sequence[int], gaps: Sequence[int], ranks: int) -> list[FlatBuffer]:
    """The buffers that releases make of the same parameters, the present one first.

    ``gaps`` is the padding behind each parameter, nothing in most checkpoints.
    """
    widths = [numel + gap for numel, gap in zip(numels, gaps, strict=True)]
    *starts, end = accumulate(widths, initial=0)
    partitions = dict.fromkeys(-(-end // (ranks * unit)) * unit for unit in UNITS)
    return [FlatBuffer(tuple(numels), tuple(starts), end, ranks, one) for one in partitions]


def part(numel: int, ranks: int) -> int:
    """Elements of one part of a parameter in stage 3, padding included."""
    return -(-numel // ranks)


def part_fragments(numel: int, before: int, ranks: int) -> Iterator[tuple[int, Fragment]]:
    """(rank, fragment) of a parameter in stage 3; ``before`` is what stands before its part on each rank."""
    width = part(numel, ranks)
    for rank in range(ranks):
        low = min(rank * width, numel)
        high = min(low + width, numel)
        if high > low:
            yield rank, (low, before, high - low)
