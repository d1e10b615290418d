"""The target ``torch-dcp``: torch's validators of checkpoint plans and of shard metadata.

Maps whose pieces are boxes are given to them as chunks. They are held against a walk of the boxes: a plan is
right when the chunks that ranks save fill the parameter, each element once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch.distributed._shard.metadata import ShardMetadata
from torch.distributed._shard.sharding_spec._internals import (
    check_tensor,
    validate_non_overlapping_shards_metadata,
)
from torch.distributed.checkpoint.default_planner import _validate_global_plan
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import SavePlan

from fuzz.cases import Case, Selection
from fuzz.consumers.boxes import Box
from fuzz.consumers.chunked import Inexpressible, chunked
from fuzz.consumers.judging import validated
from fuzz.outcomes import Tally

ANY = Selection()
FEWEST_PLANS = 2
"""With one plan torch does not ask whether the parameter is filled, so a second, empty one is added."""

Validator = Callable[[Sequence[int], Sequence[Box], int], None]
"""Refuses the boxes of a parameter of that shape, saved by that many ranks, by raising."""


class PlanError(ValueError):
    """The validator of plans, which returns its errors, returned some."""


@dataclass(frozen=True, slots=True)
class TorchDcpTarget:
    """The validators of the torch that is installed."""

    selection: Selection = ANY
    name: str = "torch-dcp"
    version: str = f"torch {torch.__version__}"

    def run(self, case: Case) -> Tally:
        """Give the chunks of a case to every validator."""
        tally = Tally()
        found = chunked(case)
        if isinstance(found, Inexpressible):
            for operation in OPERATIONS:
                tally.count("inexpressible", operation, found.reason)
            return tally
        for one in found:
            plans = max(FEWEST_PLANS, len(one.case.shard_map.ranks))
            for operation, validator in OPERATIONS.items():
                ask = partial(validator, one.shape, one.boxes, plans)
                one.judge(tally, operation, validated(ask, names=(ValueError,), right=one.wrong is None))
            one.compare(tally)
        return tally


def dcp_plan(shape: Sequence[int], boxes: Sequence[Box], plans: int) -> None:
    """Give boxes to torch's validator of the plan to save a checkpoint.

    Raises:
        PlanError: torch finds something wrong.
    """
    chunks = [ChunkStorageMetadata(torch.Size(box.offsets), torch.Size(box.sizes)) for box in boxes]
    stored = TensorStorageMetadata(TensorProperties(), torch.Size(shape), chunks)
    # Of the plans themselves it asks only how many there are.
    with _unlogged("torch.distributed.checkpoint.default_planner"):
        errors = _validate_global_plan([SavePlan([]) for _ in range(plans)], Metadata({"parameter": stored}))
    if errors:
        raise PlanError(errors[0])


def shards_metadata(shape: Sequence[int], boxes: Sequence[Box], plans: int) -> None:
    """Give boxes to torch's validators of the metadata of a sharded tensor, which know no ranks.

    Raises:
        ValueError: torch finds something wrong.
    """
    shards = [ShardMetadata(list(box.offsets), list(box.sizes)) for box in boxes]
    validate_non_overlapping_shards_metadata(shards)
    check_tensor(shards, torch.Size(shape))


OPERATIONS: dict[str, Validator] = {"dcp plan": dcp_plan, "shards metadata": shards_metadata}


@contextmanager
def _unlogged(name: str) -> Iterator[None]:
    """Without the lines that a logger would print for every refusal."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
