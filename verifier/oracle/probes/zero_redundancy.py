"""ZeroRedundancyOptimizer over SGD, in a world of one rank on gloo."""

from __future__ import annotations

import importlib
import warnings
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore

from verifier.oracle.probes.optimizer_names import ZERO
from verifier.oracle.probes.probed import Groups, Probed

WAIT = timedelta(seconds=10)


def probed() -> Probed:
    """What is probed under its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses what torch itself calls deprecated
        importlib.import_module("torch.distributed.optim")  # half a second, once and not in every child
    return Probed(name=ZERO, build=build)


def build(groups: Groups) -> Any:
    """A new one. The process joins a world of its own first, and is meant to end soon."""
    from torch.distributed.optim import ZeroRedundancyOptimizer

    class OfOneRank(ZeroRedundancyOptimizer):
        """Gathers its state when it is asked for it, as a script has to; shows the one that is in use."""

        @property
        def state(self) -> Any:
            inner = self.__dict__.get("optim")
            return self.__dict__["_own_state"] if inner is None else inner.state

        @state.setter
        def state(self, value: Any) -> None:
            self.__dict__["_own_state"] = value

        def state_dict(self) -> dict[str, Any]:
            self.consolidate_state_dict(to=0)
            found: dict[str, Any] = super().state_dict()
            return found

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1, timeout=WAIT)
    return OfOneRank(groups, optimizer_class=torch.optim.SGD, lr=0.1, momentum=0.9)
