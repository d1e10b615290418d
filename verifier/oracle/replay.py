"""Replaying a map in torch, and the process that does it for callers who must not load torch themselves.

    python -m verifier.oracle.replay < request.json > replay.json

The request is described in ``documents.py``; a bare map will do. Exit code 0 when a replay was printed,
whatever its outcome; 2 when the request could not be read, the device does not exist or torch is missing.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.oracle.documents import ELEMENT_BUDGET, SOUNDNESS, request_from_text
from verifier.oracle.errors import OracleError, require_torch
from verifier.oracle.outcome import Replay, replay_document, skipped

if TYPE_CHECKING:
    import torch


def replay(
    shard_map: ShardMap,
    *,
    reference: ShardMap | None = None,
    expectation: Expectation = SOUNDNESS,
    device: str | torch.device = "cpu",
    dtype: torch.dtype | None = None,
    element_budget: int = ELEMENT_BUDGET,
) -> Replay:
    """Cuts a parameter whose elements are known, rebuilds it through ``shard_map`` and compares the bits.

    A sound map replays exactly (Theory: T10). The converse is false: untrue locations never show in values,
    and a wrong replica may be overwritten by a right one.

    With a ``reference`` the shards are cut by that map instead: this is what a reader meets who trusts
    ``shard_map`` for memory that was laid out otherwise. Flat buffers are handed over as they are, so the
    shards may differ in shape or even in size; the replay says so in ``reason``.

    A lookup table is read only: the shards it cuts are compared with those the reference cuts.

    Args:
        shard_map: the map on trial.
        reference: the map that lays out the memory, None for the map on trial itself.
        expectation: read for what it waives (holes, gaps, cover, lookup); its own reference is not used.
        device: any device that torch knows.
        dtype: what to carry, float32 when None; float64 is carried wherever scales take part.
        element_budget: the most elements that may be moved in one pass; beyond, the replay is skipped.

    Raises:
        OracleUnavailableError: torch is not installed.
        DeviceUnavailableError: the device does not exist or cannot store the dtype.
    """
    cut = shard_map if reference is None else reference
    load = _load(shard_map) if reference is None else _load(shard_map) + _load(reference)
    if load > element_budget:
        reason = f"{load} elements would be moved, the budget is {element_budget}"
        return skipped(reason, device=str(device), total=shard_map.numel)
    if cut.numel != shard_map.numel:
        reason = f"the reference is about {cut.numel} elements, the map about {shard_map.numel}"
        return skipped(reason, device=str(device), total=shard_map.numel)
    torch = require_torch()
    from verifier.oracle.roundtrip import Trial, run  # here, because it needs torch

    note = None if reference is None else _unlike(reference, shard_map)
    return run(Trial(cut, shard_map, expectation, note), device, torch.float32 if dtype is None else dtype)


def replay_strict(
    trusted: ShardMap,
    suspect: ShardMap,
    *,
    expectation: Expectation = SOUNDNESS,
    device: str | torch.device = "cpu",
    dtype: torch.dtype | None = None,
    element_budget: int = ELEMENT_BUDGET,
) -> Replay:
    """Shards cut by a trusted map, rebuilt through a suspect one. See ``replay``."""
    return replay(
        suspect,
        reference=trusted,
        expectation=expectation,
        device=device,
        dtype=dtype,
        element_budget=element_budget,
    )


def _load(shard_map: ShardMap) -> int:
    """Elements of the parameter, all shards and all pieces; a stride of 0 makes a piece larger than both."""
    shards = sum(shard.numel for shard in shard_map.ranks.values())
    return shard_map.numel + shards + sum(piece.numel for _, _, piece in shard_map.pieces())


def _unlike(trusted: ShardMap, suspect: ShardMap) -> str | None:
    """In which outer shapes the maps differ; the first rank stands for the rest."""
    if trusted.logical_shape != suspect.logical_shape:
        return f"the reference is about shape {trusted.logical_shape}, the map about {suspect.logical_shape}"
    if trusted.ranks.keys() != suspect.ranks.keys():
        return f"the reference has ranks {list(trusted.ranks)}, the map {list(suspect.ranks)}"
    for rank, shard in suspect.ranks.items():
        shape = trusted.ranks[rank].shard_shape
        if shape != shard.shard_shape:
            return f"rank {rank} has a shard of {shape} in the reference, of {shard.shard_shape} in the map"
    return None


def main() -> int:
    """Reads a request on stdin, writes a replay on stdout."""
    try:
        request = request_from_text(sys.stdin.read())
        require_torch()
        from verifier.oracle.buffers import dtype_named  # here, because it needs torch

        result = replay(
            request.shard_map,
            reference=request.reference,
            expectation=request.expectation,
            device=request.device,
            dtype=dtype_named(request.dtype),
            element_budget=request.element_budget,
        )
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(replay_document(result), allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
