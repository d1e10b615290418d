"""Right optimizers in unusual styles, each with its contract: no probe may accuse one of them of anything."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import torch

from tests.oracle.probes.declaring import declared, field
from tests.oracle.probes.planted import Right, digest
from verifier.contracts.document import Contract

Dict = dict[str, Any]


class Own:
    """Not of torch's class: it checks before any change, copies, and saves a digest of everything."""

    __slots__ = ("known", "param_groups", "state")
    options: Dict = {"lr": 0.125}  # noqa: RUF012 - nobody writes to it

    def __init__(self, groups: list[Dict]) -> None:
        self.param_groups = [{**self.options, "params": list(group["params"])} for group in groups]
        self.state: dict[torch.Tensor, Dict] = {}
        self.known = [id(parameter) for parameter in self.own()]

    def own(self) -> list[torch.Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    @torch.no_grad()
    def step(self) -> None:
        if [id(parameter) for parameter in self.own()] != self.known:
            raise RuntimeError("a parameter was replaced; make a new optimizer")
        for group in self.param_groups:
            gradients = [parameter.grad for parameter in group["params"]]
            if any(gradient is not None for gradient in gradients):
                self.count(group)
            for parameter, gradient in zip(group["params"], gradients, strict=True):
                if gradient is not None:
                    self.update(parameter, gradient, self.state.setdefault(parameter, {}), group)

    def count(self, group: Dict) -> None:
        """Once for each group in each step."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        raise NotImplementedError

    def state_dict(self) -> Dict:
        position = {parameter: number for number, parameter in enumerate(self.own())}
        saved = {
            "state": {position[parameter]: entry for parameter, entry in self.state.items() if entry},
            "param_groups": [
                {**group, "params": [position[p] for p in group["params"]]} for group in self.param_groups
            ],
        }
        return {**copy.deepcopy(saved), "digest": digest(saved)}

    def load_state_dict(self, saved: Dict) -> None:
        parts = {"state": saved["state"], "param_groups": saved["param_groups"]}
        if digest(parts) != saved["digest"]:
            raise ValueError("the state dict is not what was saved")
        if [len(g["params"]) for g in saved["param_groups"]] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError("the state dict is about other parameters")
        loaded, own = copy.deepcopy(parts), self.own()
        self.state = {own[number]: entry for number, entry in loaded["state"].items()}
        for group, theirs in zip(self.param_groups, loaded["param_groups"], strict=True):
            group.update({key: value for key, value in theirs.items() if key != "params"})


class Slotted(Own):
    """Has no __dict__."""

    __slots__ = ()

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state["m"] = torch.zeros_like(parameter)
        state["m"].mul_(0.5).add_(gradient)
        parameter.sub_(state["m"], alpha=group["lr"])


class Undigested(Slotted):
    """Saves no digest, and looks at everything that can be known without one."""

    __slots__ = ()

    def state_dict(self) -> Dict:
        saved = super().state_dict()
        del saved["digest"]
        return saved

    def load_state_dict(self, saved: Dict) -> None:
        state, groups, own = saved["state"], saved["param_groups"], self.own()
        ids = [number for group in groups for number in group["params"]]
        if saved.keys() != {"state", "param_groups"} or ids != list(range(len(own))):
            raise ValueError("the state dict is about other parameters")
        for group, mine in zip(groups, self.param_groups, strict=True):
            if group.keys() != mine.keys() or type(group["params"]) is not list:
                raise ValueError("a group has other options")
            if len(group["params"]) != len(mine["params"]) or type(group["lr"]) is not float:
                raise ValueError("a group has other parameters")
            if not 0 < group["lr"] < 1e6:
                raise ValueError("the rate is no rate")
        for number, entry in state.items():
            if entry.keys() != {"m"} or not like(entry["m"], own[number]):
                raise ValueError("m has another form")
        self.state = {own[number]: {"m": entry["m"].clone()} for number, entry in state.items()}
        for group, theirs in zip(self.param_groups, groups, strict=True):
            group["lr"] = theirs["lr"]


def like(found: object, parameter: torch.Tensor) -> bool:
    """Whether it is a tensor of finite numbers, of the parameter's form."""
    if type(found) is not torch.Tensor or found.is_meta or found.layout != torch.strided:
        return False
    same = (found.shape, found.dtype) == (parameter.shape, parameter.dtype)
    return same and bool(torch.isfinite(found).all())


class NotYetKnown(Own):
    """Keeps a number that is NaN for a while."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        state.setdefault("loss", math.nan)
        parameter.sub_(gradient, alpha=group["lr"])


class Gathering(Own):
    """Moves a parameter in every fourth step of its own."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state.update(n=0, sum=torch.zeros_like(parameter))
        state["n"] += 1
        state["sum"] += gradient
        if state["n"] % 4 == 0:
            parameter.sub_(state["sum"], alpha=group["lr"])
            state["sum"].zero_()


class Following(Gathering):
    """Trains whatever is in its groups, and forgets the state of what is not."""

    def step(self) -> None:
        own = self.own()
        self.known = [id(parameter) for parameter in own]
        self.state = {
            parameter: entry for parameter, entry in self.state.items() if id(parameter) in self.known
        }
        super().step()


class Counting(Own):
    """Counts the steps of a group in the group, and corrects its average by them."""

    options: Dict = {"lr": 0.125, "steps": 0}  # noqa: RUF012

    def count(self, group: Dict) -> None:
        group["steps"] += 1

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state["m"] = torch.zeros_like(parameter)
        state["m"].mul_(0.9).add_(gradient, alpha=0.1)
        parameter.sub_(state["m"] / (1 - 0.9 ** group["steps"]), alpha=group["lr"])


class WarmingUp(Counting):
    """Its learning rate is 0 in the first three steps."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        state["seen"] = state.get("seen", 0) + 1
        parameter.sub_(gradient, alpha=group["lr"] * max(0, group["steps"] - 3))


class FromTheSecond(Counting):
    """Makes its state in the second step."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if group["steps"] > 1:
            state.setdefault("m", torch.zeros_like(parameter)).mul_(0.5).add_(gradient)
        parameter.sub_(state.get("m", gradient), alpha=group["lr"])


class Worded(Own):
    """Has a text and a list in its state."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state.update(kind="plain", history=[], m=torch.zeros_like(parameter))
        state["history"] = [*state["history"], 1.0][-3:]
        state["m"].add_(gradient)
        parameter.sub_(state["m"], alpha=group["lr"])


class Schedule:
    """An object whose text holds its address."""

    def __init__(self) -> None:
        self.rates = [1.0, 0.5]


torch.serialization.add_safe_globals([Schedule])


class Scheduled(Own):
    """Keeps an object in its state."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        schedule = state.setdefault("schedule", Schedule())
        parameter.sub_(gradient, alpha=group["lr"] * schedule.rates[0])


class Small(Own):
    """Keeps a byte for each element, as its last field."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if not state:
            state["codes"] = torch.full_like(parameter, 128, dtype=torch.uint8)
        codes = (state["codes"].int() + gradient.sign().int()).clamp(0, 255)
        state["codes"].copy_(codes)
        parameter.sub_((codes - 128).to(parameter.dtype), alpha=group["lr"])


class Drawing(Own):
    """Adds noise from torch's global generator."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        state["n"] = state.get("n", 0) + 1
        parameter.sub_(gradient + torch.randn(parameter.shape).to(parameter.dtype), alpha=group["lr"])


class Wrapping:
    """Slow weights around another optimizer; its state dict has keys of its own."""

    def __init__(self, groups: list[Dict]) -> None:
        self.inner = Slotted(groups)
        self.slow = [parameter.detach().clone() for parameter in self.inner.own()]
        self.n = 0

    @property
    def param_groups(self) -> list[Dict]:
        return self.inner.param_groups

    @property
    def state(self) -> dict[torch.Tensor, Dict]:
        return self.inner.state

    @torch.no_grad()
    def step(self) -> None:
        self.inner.step()
        self.n += 1
        if self.n % 5 == 0:
            for slow, parameter in zip(self.slow, self.inner.own(), strict=True):
                parameter.copy_(slow.lerp_(parameter, 0.5))

    def state_dict(self) -> Dict:
        return {"fast": self.inner.state_dict(), "slow": copy.deepcopy(self.slow), "n": self.n}

    def load_state_dict(self, saved: Dict) -> None:
        self.inner.load_state_dict(saved["fast"])
        self.slow, self.n = copy.deepcopy(saved["slow"]), saved["n"]


class Copying(Wrapping):
    """Trains copies of its parameters in float32, which are those in its groups."""

    def __init__(self, groups: list[Dict]) -> None:
        self.model = [parameter for group in groups for parameter in group["params"]]
        copies = [[torch.nn.Parameter(p.detach().float()) for p in group["params"]] for group in groups]
        super().__init__([{"params": own} for own in copies])
        self.slow = self.inner.own()

    @torch.no_grad()
    def step(self) -> None:
        for parameter, own in zip(self.model, self.slow, strict=True):
            own.grad = None if parameter.grad is None else parameter.grad.float()
        self.inner.step()
        for parameter, own in zip(self.model, self.slow, strict=True):
            parameter.copy_(own)

    @torch.no_grad()
    def load_state_dict(self, saved: Dict) -> None:
        self.inner.load_state_dict(saved["fast"])
        for parameter, own, theirs in zip(self.model, self.slow, saved["slow"], strict=True):
            parameter.copy_(own.copy_(theirs))


class Unnamed(Right):
    """Saves no names of parameters."""

    def state_dict(self) -> Dict:
        found = torch.optim.Optimizer.state_dict(self)
        for group in found["param_groups"]:
            group.pop("param_names", None)
        return copy.deepcopy({**found, "digest": digest([found["state"], found["param_groups"]])})


class Contiguous(Right):
    """Refuses a view when it is made."""

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        if not all(p.is_contiguous() for group in self.param_groups for p in group["params"]):
            raise ValueError("parameters have to be contiguous")


RIGHT: dict[Callable[..., Any], Contract | None] = {
    Slotted: declared(field("m")),
    Undigested: declared(field("m")),
    NotYetKnown: declared(field("loss", "host_float", "scalar")),
    Gathering: declared(field("n", "host_int", "scalar"), field("sum")),
    Following: declared(field("n", "host_int", "scalar"), field("sum")),
    Counting: declared(field("m")),
    WarmingUp: declared(field("seen", "host_int", "scalar")),
    FromTheSecond: declared(field("m")),
    Worded: declared(
        field("kind", "host_text", "identity"), field("history", "host_list", "scalar"), field("m")
    ),
    Scheduled: None,
    Small: declared(field("codes", "uint8")),
    Drawing: None,
    Wrapping: declared(field("m")),
    Copying: declared(field("m")),
    Unnamed: None,
    Contiguous: None,
}
"""Each with what it declares, None where it declares nothing."""
