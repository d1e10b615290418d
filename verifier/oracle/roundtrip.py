"""One replay: a known parameter, cut, rebuilt and compared. Theory: T10.

A first pass sends all-ones bits over all-zeros memory without scales: what is zero in the end was never
written. Passes with the digits of the addresses follow (``payload.py``), then the census of the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from verifier.model.expectation import Expectation
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap
from verifier.oracle.buffers import Poison, dtype_name, poisoned, require_storable, to_words, usable_device
from verifier.oracle.census import addresses_inside, census
from verifier.oracle.errors import RefusedError
from verifier.oracle.execute import Rebuilt, extract, rebuild
from verifier.oracle.lookup import comparable, differing, look_up
from verifier.oracle.outcome import Content, Outcome, Replay
from verifier.oracle.payload import AddressBits, PowersOfTwo, Rounds, has_scales, lowest_exponent


@dataclass(frozen=True, slots=True)
class Trial:
    """What is replayed: shards are cut through ``cut`` and rebuilt through ``joined``, often the same map."""

    cut: ShardMap
    joined: ShardMap
    expectation: Expectation
    note: str | None


def run(trial: Trial, device: str | torch.device, dtype: torch.dtype) -> Replay:
    """Executes a trial on a device.

    Raises:
        DeviceUnavailableError: the device does not exist or cannot store the dtype.
    """
    where = usable_device(device)
    scales = [piece.scale for m in (trial.cut, trial.joined) for _, _, piece in m.pieces()]
    scaled = has_scales(scales)
    carried = torch.float64 if scaled else dtype
    require_storable(carried, where)
    blank = Replay(
        outcome="exact",
        device=str(where),
        torch_version=torch.__version__,
        dtype=dtype_name(carried),
        total=trial.joined.numel,
        reason=trial.note,
    )
    lowest = lowest_exponent(scales)
    if lowest is None:
        reason = "the scales are too far apart, or beyond a double, to be undone exactly"
        return replace(blank, outcome="skipped", reason=reason)
    payload = PowersOfTwo(blank.total, lowest, where) if scaled else AddressBits(blank.total, dtype, where)
    try:
        if trial.expectation.lookup:
            return _looked_up(blank, trial, payload, where)
        return _filled(blank, trial, payload, carried, where)
    except RefusedError as refusal:
        return replace(blank, outcome="raises", error=str(refusal))
    except torch.cuda.OutOfMemoryError:
        reason = f"the memory of {str(where)!r} did not suffice"
        return replace(blank, outcome="skipped", reason=reason)


def _filled(
    blank: Replay, trial: Trial, payload: AddressBits | PowersOfTwo, dtype: torch.dtype, where: torch.device
) -> Replay:
    """The replay with what the passes found."""
    unwritten = _unwritten(trial, dtype, where)
    sent = payload.rounds()
    rebuilt = [_carry(tensor, trial.cut, trial.joined, Poison.ONES) for tensor in sent]
    counts = census(trial.joined, trial.expectation, where)
    came = [one.full.reshape(-1) for one in rebuilt]
    changed = differing(sent, came) & ~unwritten
    wanted = unwritten & ~_waived(trial, where)
    drifts = [one.drift for one in rebuilt if one.drift is not None]
    filled = replace(
        blank,
        changed=int(changed.sum()),
        unwritten=int(wanted.sum()),
        first=_first(payload, sent, came, changed, wanted),
        holes=counts.holes,
        rewritten=counts.rewritten,
        repeated=counts.repeated,
        drift=min(drifts, key=lambda drift: drift.address, default=None),
    )
    return replace(filled, outcome=_outcome(filled))


def _looked_up(
    blank: Replay, trial: Trial, payload: AddressBits | PowersOfTwo, where: torch.device
) -> Replay:
    """The replay of a read-only table: its shards against those of the reference, and the census."""
    if not comparable(trial.cut, trial.joined):
        return replace(blank, outcome="skipped", reason=f"shards that cannot be compared: {trial.note}")
    looked = look_up(trial.cut, trial.joined, payload)
    counts = census(trial.joined, trial.expectation, where)
    filled = replace(
        blank,
        total=sum(shard.numel for shard in trial.joined.ranks.values()),
        changed=looked.changed,
        first=looked.first,
        first_rank=looked.rank,
        holes=counts.holes,
        rewritten=counts.rewritten,
    )
    return replace(filled, outcome=_outcome(filled))


def _outcome(filled: Replay) -> Outcome:
    if filled.changed:
        return "differs"
    if filled.unwritten or filled.holes:
        return "unwritten"
    return "exact" if filled.drift is None else "replicas-differ"


def _carry(payload: torch.Tensor, cut: ShardMap, joined: ShardMap, poison: Poison) -> Rebuilt:
    """One flat payload through both maps."""
    full = payload.view(cut.logical_shape)
    where = payload.device
    shards = {rank: extract(full, cut, rank, device=where, poison=poison) for rank in cut.ranks}
    if shards:
        return rebuild(shards, joined, device=where, poison=poison)
    return Rebuilt(poisoned(joined.numel, payload.dtype, where, poison), None)


def _unwritten(trial: Trial, dtype: torch.dtype, where: torch.device) -> torch.Tensor:
    """Which elements come back from memory that nobody wrote: bool, (numel,).

    The payload is the same everywhere, so no order of writes can hide or feign an unwritten cell.
    """
    ones = poisoned(trial.cut.numel, dtype, where, Poison.ONES)
    rebuilt = _carry(ones, _without_scales(trial.cut), _without_scales(trial.joined), Poison.ZEROS)
    return (to_words(rebuilt.full) == 0).all(dim=1)


def _without_scales(shard_map: ShardMap) -> ShardMap:
    ranks = {
        rank: replace(shard, pieces=tuple(replace(piece, scale=ONE) for piece in shard.pieces))
        for rank, shard in shard_map.ranks.items()
    }
    return replace(shard_map, ranks=ranks)


def _waived(trial: Trial, where: torch.device) -> torch.Tensor:
    """Which elements nobody needs to hold: bool, (numel,)."""
    expectation = trial.expectation
    total = trial.joined.numel
    waived = torch.full((total,), not expectation.cover, dtype=torch.bool, device=where)
    waived[addresses_inside(expectation.gaps, total, where)] = True
    return waived


def _first(
    payload: AddressBits | PowersOfTwo,
    sent: Rounds,
    came: Sequence[torch.Tensor],
    changed: torch.Tensor,
    unwritten: torch.Tensor,
) -> tuple[int, Content, Content] | None:
    """The least element that did not come back."""
    lost = torch.nonzero(changed | unwritten)
    if lost.numel() == 0:
        return None
    address = int(lost[0, 0])
    was, now = payload.change(sent, came, address)
    return address, was, None if bool(unwritten[address]) else now
