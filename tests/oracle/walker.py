"""The reference: every element moved by hand, in plain Python."""

from collections import Counter
from dataclasses import dataclass
from itertools import product

from verifier.geometry.strided import StridedView
from verifier.model.shard_map import ShardMap


@dataclass(frozen=True)
class Walk:
    outcome: str
    changed: int = 0
    unwritten: int = 0
    first: tuple[int, int, int | None] | None = None
    holes: int = 0
    rewritten: int = 0
    repeated: int = 0
    drift: tuple[int, int, int] | None = None
    ordered: bool = True
    """False when one copy writes an address twice, so that the values depend on torch's loop order."""


def addresses(view: StridedView) -> list[int]:
    return [
        view.offset + sum(i * s for i, s in zip(index, view.strides, strict=True))
        for index in product(*(range(n) for n in view.shape))
    ]


def walk(cut: ShardMap, joined: ShardMap) -> Walk:
    """Scales are left out: they change no address."""
    if any(_refused(m, n) for m, n in ((cut, cut), (joined, joined), (joined, cut))):
        return Walk("raises")
    written_to = [p.dest for _, _, p in cut.pieces()] + [p.source for _, _, p in joined.pieces()]
    if any(_spread(view) for view in written_to):
        return Walk("raises")
    ordered = all(len(set(addresses(view))) == view.numel for view in written_to)
    shards = {rank: _extract(cut, rank) for rank in cut.ranks}
    full: list[int | None] = [None] * joined.numel
    drift = _rebuild(full, shards, joined)
    lost = [a for a, value in enumerate(full) if value != a]
    holes = rewritten = repeated = 0
    for shard in joined.ranks.values():
        writes = Counter(a for p in shard.pieces for a in addresses(p.dest))
        reads = Counter(a for p in shard.pieces for a in addresses(p.source))
        holes += sum(1 for a in range(shard.numel) if a not in writes)
        rewritten += sum(1 for n in writes.values() if n > 1)
        repeated += sum(1 for n in reads.values() if n > 1)
    unwritten = sum(1 for a in lost if full[a] is None)
    changed = len(lost) - unwritten
    outcome = "exact" if drift is None else "replicas-differ"
    if changed:
        outcome = "differs"
    elif unwritten or holes:
        outcome = "unwritten"
    first = (lost[0], lost[0], full[lost[0]]) if lost else None
    return Walk(outcome, changed, unwritten, first, holes, rewritten, repeated, drift, ordered)


def _refused(shard_map: ShardMap, memory: ShardMap) -> bool:
    """A view leaves its buffer or has a negative stride, or there is no buffer."""
    for rank, _, p in shard_map.pieces():
        if p.is_empty:
            continue
        if rank not in memory.ranks:
            return True
        for view, size in ((p.dest, memory.ranks[rank].numel), (p.source, shard_map.numel)):
            reached = addresses(view)
            if min(reached) < 0 or max(reached) >= size or min((*view.strides, 0)) < 0 or view.offset < 0:
                return True
    return False


def _spread(view: StridedView) -> bool:
    """A stride of 0 repeats one address; torch refuses to write through such a view."""
    return not view.is_empty and any(s == 0 and n > 1 for s, n in zip(view.strides, view.shape, strict=True))


def _extract(cut: ShardMap, rank: int) -> list[int | None]:
    shard: list[int | None] = [None] * cut.ranks[rank].numel
    for p in cut.ranks[rank].pieces:
        for a, d in zip(addresses(p.source), addresses(p.dest), strict=True):
            shard[d] = a
    return shard


def _rebuild(
    full: list[int | None], shards: dict[int, list[int | None]], joined: ShardMap
) -> tuple[int, int, int] | None:
    writer: dict[int, int] = {}
    declared: set[int] = set()
    drift: tuple[int, int, int] | None = None
    for rank, _, p in joined.pieces():
        if p.is_empty:
            continue
        pairs = list(zip(addresses(p.source), addresses(p.dest), strict=True))
        differing = [
            (a, writer[a], rank)
            for a, d in pairs
            if a in writer and (len(p.locations) > 1 or a in declared) and full[a] != shards[rank][d]
        ]
        if differing and drift is None:
            drift = min(differing)
        for a, d in pairs:
            full[a] = shards[rank][d]
            writer[a] = rank
            if len(p.locations) > 1:
                declared.add(a)
    return drift
