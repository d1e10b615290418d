"""The device rules on a live process group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist

from verifier.contracts.broken import Broken
from verifier.contracts.devices import GroupUse, broken_device_rules


def use_of(
    group: Any, device: str, collectives: Sequence[str], *, timeout_seconds: float | None = None
) -> GroupUse:
    """How a live group would be used for ``collectives`` on tensors on ``device``.

    ``timeout_seconds`` is what the caller set when the group was made: torch does not tell.
    """
    return GroupUse(
        backend=dist.get_backend_config(group),
        device=device,
        collectives=tuple(collectives),
        members=dist.get_world_size(group),
        timeout_seconds=timeout_seconds,
        cuda_devices=torch.cuda.device_count(),
        global_ranks=tuple(dist.get_process_group_ranks(group)),
        control_device="cpu",
    )


def broken_live_rules(
    group: Any, device: str, collectives: Sequence[str], *, timeout_seconds: float | None = None
) -> Iterator[Broken]:
    """The D rules that this use of a live group breaks."""
    yield from broken_device_rules(use_of(group, device, collectives, timeout_seconds=timeout_seconds))
