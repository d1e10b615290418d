"""One optimizer for each fault that lies deeper than a first look.

It is in nested state, in a later step, in a late parameter, or in a large shard.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.oracle.probes.planted import BUFFER, Dict, Right, Trusting
from tests.oracle.probes.right_ones import Own


class NestedShared(Own):
    """Copies the dicts that it is given, and not what lies in them (OC610)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state["inner"] = [{"m": torch.zeros_like(parameter)}]
        state["inner"][0]["m"].mul_(0.5).add_(gradient)
        parameter.sub_(state["inner"][0]["m"], alpha=group["lr"])

    def state_dict(self) -> Dict:
        saved, own = super().state_dict(), self.own()
        saved["state"] = {number: {**self.state[own[number]]} for number in saved["state"]}
        return saved

    def load_state_dict(self, saved: Dict) -> None:
        super().load_state_dict(saved)
        own = self.own()
        for number, entry in saved["state"].items():
            self.state[own[number]] = {**entry}


class NestedLost(Own):
    """Brings the tensors of a list back as zeros, and uses them in every fifth step (OC609)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        history = state.setdefault("history", [])
        history.append(gradient.clone())
        if len(history) == 5:
            parameter.sub_(sum(history), alpha=group["lr"])
            history.clear()

    def load_state_dict(self, saved: Dict) -> None:
        super().load_state_dict(saved)
        for entry in self.state.values():
            entry["history"] = [torch.zeros_like(tensor) for tensor in entry["history"]]


class Unsaved(Right):
    """Has slow weights that are in no state dict, and uses them in every fifth step (OC609)."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        parameters = [p for group in self.param_groups for p in group["params"]]
        slow = self.__dict__.setdefault("slow", [p.clone() for p in parameters])
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        super().step()
        if self.__dict__["count"] % 5 == 0:
            for mine, parameter in zip(slow, parameters, strict=True):
                parameter.copy_(mine.lerp_(parameter, 0.5))


class OwnOptions(Right):
    """Keeps its own options when it loads (OC609)."""

    def publish(self, state_dict: Dict) -> None:
        kept = [dict(group) for group in self.param_groups]
        super().publish(state_dict)
        for group, own in zip(self.param_groups, kept, strict=True):
            group.update(own)


class Beside(Right):
    """Keeps something beside the state of parameters, undeclared, and does not load it (OC606, OC609)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient, state, group)
        self.state["shared"]["count"] = self.state["shared"].get("count", 0) + 1

    def check(self, state_dict: Dict) -> None:
        pass


class Borrowed(Own):
    """Corrects the average of every parameter by the steps of the first (OC618)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state.update(steps=0, m=torch.zeros_like(parameter))
        state["steps"] += 1
        first = next(self.state[p] for p in group["params"] if self.state.get(p))
        state["m"].mul_(0.9).add_(gradient, alpha=0.1)
        parameter.sub_(state["m"] / (1 - 0.9 ** first["steps"]), alpha=group["lr"])


class Poisoned(Trusting):
    """Takes NaN into a sum that it uses in every fifth step (OC604)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        state["n"] = state.get("n", 0) + 1
        state[BUFFER].add_(gradient)
        parameter.sub_(gradient, alpha=group["lr"])
        if state["n"] % 5 == 0:
            parameter.sub_(state[BUFFER], alpha=group["lr"])
            state[BUFFER].zero_()


class OfItsSize(Right):
    """Rounds its momentum where its own part of the parameter has 4096 elements or more (OC616)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient, state, group)
        if parameter.numel() >= 4096:
            state[BUFFER].copy_(state[BUFFER].to(torch.float16))


class LateToRefuse(Right):
    """Refuses a view when it has written its first row (OC613)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        parameter[:1] -= gradient[:1]
        if not parameter.is_contiguous():
            raise ValueError("not contiguous")
        super().update(parameter, gradient, state, group)


HIDDEN: tuple[tuple[type, str, str, str], ...] = (
    (NestedShared, "aliasing", "OC610", "inner changed"),
    (NestedLost, "round-trip", "OC609", "history changed"),
    (Unsaved, "round-trip", "OC609", "after 3 more steps"),
    (OwnOptions, "round-trip", "OC609", "lr, momentum of the groups are not restored"),
    (Beside, "declared", "OC606", "the state has shared of no parameter"),
    (Beside, "round-trip", "OC609", "shared only before"),
    (Borrowed, "late-gradient", "OC618", "of the late parameter are trained otherwise than by itself"),
    (Poisoned, "corruptions", "OC604", "NaN in tensor (in a later step)"),
    (LateToRefuse, "views", "OC613", "it raises ValueError: not contiguous after it has changed elements"),
    (OfItsSize, "shards", "OC616", "momentum_buffer differs"),
)
"""Which probe has to find which code, and what it says."""
