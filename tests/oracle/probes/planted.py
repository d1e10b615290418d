"""A user's optimizer that does everything right, and one for each fault that a probe is for.

``shardproof contract probe tests.oracle.probes.planted:Right`` accuses it of nothing.
"""

from __future__ import annotations

import copy
import hashlib
import os
import signal
from typing import Any

import torch
from torch.distributed.tensor import DTensor

Dict = dict[str, Any]
BUFFER = "momentum_buffer"


def digest(value: object) -> str:
    """Of everything in a state dict, types and bytes included."""
    seen = hashlib.sha256()

    def feed(item: object) -> None:
        seen.update(type(item).__name__.encode())
        if isinstance(item, torch.Tensor):
            seen.update(f"{item.dtype}{tuple(item.shape)}{item.layout}".encode())
            flat = item.detach().cpu().contiguous().view(-1)
            seen.update(bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b"")
        elif isinstance(item, dict):
            for key, one in item.items():
                feed(key)
                feed(one)
        elif isinstance(item, list | tuple):
            seen.update(str(len(item)).encode())
            for one in item:
                feed(one)
        elif hasattr(item, "__dict__"):
            feed(vars(item))
        else:
            seen.update(repr(item).encode())

    feed(value)
    return seen.hexdigest()


def local(tensor: torch.Tensor) -> torch.Tensor:
    """What this rank holds."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


class Right(torch.optim.Optimizer):
    """SGD with momentum: state from the beginning, a digest in what is saved, checks before any change."""

    def __init__(self, params: Any, lr: float = 0.125, momentum: float = 0.5) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})
        for group in self.param_groups:
            for parameter in group["params"]:
                self.begin(parameter)
        self.known = self.tokens()

    def begin(self, parameter: torch.Tensor) -> None:
        self.state[parameter] = {BUFFER: torch.zeros_like(parameter, memory_format=torch.contiguous_format)}

    def tokens(self) -> list[int]:
        return [id(parameter) for group in self.param_groups for parameter in group["params"]]

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        if self.tokens() != self.known:
            raise RuntimeError("a parameter was replaced; make a new optimizer")
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.update(parameter, parameter.grad, self.state[parameter], group)

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        state[BUFFER].mul_(group["momentum"]).add_(gradient)
        parameter.add_(state[BUFFER], alpha=-group["lr"])

    def state_dict(self) -> Dict:
        found = copy.deepcopy(super().state_dict())
        found["digest"] = digest([found["state"], found["param_groups"]])
        return found

    def load_state_dict(self, state_dict: Dict) -> None:
        self.check(state_dict)
        self.publish(state_dict)

    def check(self, state_dict: Dict) -> None:
        own = self.state_dict()
        if state_dict.keys() != own.keys():
            raise ValueError("a state dict has state, param_groups and digest")
        if digest([state_dict["state"], state_dict["param_groups"]]) != state_dict["digest"]:
            raise ValueError("the state dict is not what was saved")
        for theirs, mine in zip(state_dict["param_groups"], own["param_groups"], strict=True):
            if theirs["params"] != mine["params"] or theirs.get("param_names") != mine.get("param_names"):
                raise ValueError("the state dict is about other parameters")
        for key, entry in own["state"].items():
            theirs = state_dict["state"][key]
            for name, value in entry.items():
                if (theirs[name].shape, theirs[name].dtype) != (value.shape, value.dtype):
                    raise ValueError(f"{name} has another form")

    def publish(self, state_dict: Dict) -> None:
        loaded = copy.deepcopy(state_dict)
        for group, theirs in zip(self.param_groups, loaded["param_groups"], strict=True):
            group.update({key: value for key, value in theirs.items() if key != "params"})
            for number, parameter in zip(theirs["params"], group["params"], strict=True):
                self.take(parameter, loaded["state"][number])

    def take(self, parameter: torch.Tensor, entry: Dict) -> None:
        self.state[parameter].update(entry)


class Trusting(Right):
    """Loads whatever it is given."""

    def check(self, state_dict: Dict) -> None:
        pass


class Dirty(Trusting):
    """Takes the state over before it looks at it (OC601)."""

    def load_state_dict(self, state_dict: Dict) -> None:
        for entry, parameter in zip(state_dict["state"].values(), self.state, strict=False):
            self.state[parameter] = entry
        Right.check(self, state_dict)


class Killed(Trusting):
    """Reads past the end of a short buffer, as a kernel may (OC602)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        if state[BUFFER].numel() < parameter.numel():
            os.kill(os.getpid(), signal.SIGSEGV)
        super().update(parameter, gradient, state, group)


class HalfAStep(Trusting):
    """Decays a parameter before it looks at its state (OC603)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        parameter.mul_(0.5)
        super().update(parameter, gradient, state, group)


class WrongShape(Right):
    """Takes a state of another shape as if it were its own (OC604)."""

    def check(self, state_dict: Dict) -> None:
        for entry in state_dict["state"].values():
            if not isinstance(entry[BUFFER], torch.Tensor) or entry[BUFFER].is_meta:
                raise ValueError("no tensor")

    def take(self, parameter: torch.Tensor, entry: Dict) -> None:
        self.state[parameter][BUFFER] = entry[BUFFER].to_dense().expand_as(parameter).clone()


class Late(Trusting):
    """Looks at its state in the step, before it does anything (OC605)."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for parameter, entry in self.state.items():
            if entry[BUFFER].shape != parameter.shape:
                raise ValueError("another shape")
        super().step()


class Undeclared(Right):
    """Keeps something that its contract does not name (OC606)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient, state, group)
        state["last_norm"] = gradient.norm()


class Wide(Right):
    """Keeps its momentum in another dtype than is declared (OC607)."""

    def begin(self, parameter: torch.Tensor) -> None:
        self.state[parameter] = {BUFFER: torch.zeros(parameter.shape, dtype=torch.float64)}


class Fading(Right):
    """Halves its momentum when it is read (OC608)."""

    def state_dict(self) -> Dict:
        for entry in self.state.values():
            entry[BUFFER].mul_(0.5)
        return super().state_dict()


class Lossy(Right):
    """Loads through float16 (OC609)."""

    def take(self, parameter: torch.Tensor, entry: Dict) -> None:
        super().take(parameter, {BUFFER: entry[BUFFER].half().to(parameter.dtype)})


class Shared(Right):
    """Hands out its own state, and takes over what it is given (OC610)."""

    def state_dict(self) -> Dict:
        found = torch.optim.Optimizer.state_dict(self)
        found["digest"] = ""
        return found

    def check(self, state_dict: Dict) -> None:
        pass

    def publish(self, state_dict: Dict) -> None:
        for entry, parameter in zip(state_dict["state"].values(), list(self.state), strict=True):
            self.state[parameter] = entry


class Noisy(Right):
    """Adds noise from the system (OC611)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient, state, group)
        parameter.add_(int.from_bytes(os.urandom(2), "big") * 1e-6)


class Stale(Right):
    """Remembers the parameters of its first day (OC612)."""

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        self.remembered = [(p, group) for group in self.param_groups for p in group["params"]]

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for parameter, group in self.remembered:
            if parameter.grad is not None:
                self.update(parameter, parameter.grad, self.state[parameter], group)


class Straying(Right):
    """Writes its elements one after the other, however they lie (OC613)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        flat = torch.as_strided(parameter, (parameter.numel(),), (1,))
        state[BUFFER].mul_(group["momentum"]).add_(gradient)
        flat.add_(state[BUFFER].reshape(-1), alpha=-group["lr"])


class Traced(Right):
    """Says that it skips steps by itself, and forgets its momentum (OC614)."""

    _step_supports_amp_scaling = True

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        before = parameter.clone()
        super().update(parameter, gradient, state, group)
        if getattr(self, "found_inf", 0):
            parameter.copy_(before)


class Full(Right):
    """Divides by its number of elements (OC615)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient * (len(parameter) * 8 // len(parameter) / 8), state, group)


class Normed(Right):
    """Divides the gradient by its norm, although its contract says elementwise (OC616)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient / (local(gradient).norm() + 1), state, group)


class Fixed(Right):
    """Decays by a rate that no option names (OC617)."""

    def update(self, parameter: torch.Tensor, gradient: torch.Tensor, state: Dict, group: Dict) -> None:
        super().update(parameter, gradient.add(parameter, alpha=0.1), state, group)


class Stacked(Right):
    """Steps a group as one, and cannot where a parameter has no gradient yet (OC618)."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            torch.cat([parameter.grad.reshape(-1) for parameter in group["params"]])
        super().step()


class ByPosition(Right):
    """Does not look at names (OC619)."""

    def check(self, state_dict: Dict) -> None:
        for group, mine in zip(state_dict["param_groups"], self.param_groups, strict=True):
            group.pop("param_names", None)
            mine.pop("param_names", None)
        state_dict["digest"] = digest([state_dict["state"], state_dict["param_groups"]])
        super().check(state_dict)


PLANTED: dict[str, tuple[type[Right], str]] = {
    "OC601": (Dirty, "corruptions"),
    "OC602": (Killed, "corruptions"),
    "OC603": (HalfAStep, "corruptions"),
    "OC604": (WrongShape, "corruptions"),
    "OC605": (Late, "corruptions"),
    "OC606": (Undeclared, "declared"),
    "OC607": (Wide, "declared"),
    "OC608": (Fading, "reading"),
    "OC609": (Lossy, "round-trip"),
    "OC610": (Shared, "aliasing"),
    "OC611": (Noisy, "determinism"),
    "OC612": (Stale, "replacement"),
    "OC613": (Straying, "views"),
    "OC614": (Traced, "skipped-step"),
    "OC615": (Full, "empty-shard"),
    "OC616": (Normed, "shards"),
    "OC616 of DTensors": (Normed, "dtensors"),
    "OC617": (Fixed, "scale"),
    "OC618": (Stacked, "late-gradient"),
    "OC619": (ByPosition, "names"),
}
"""Which fault is planted where, and the probe that has to find it."""
