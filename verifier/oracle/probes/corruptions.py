"""A state dict with one thing wrong: the fixed list that optimizers are tried with.

Each corruption takes a state dict of its own and changes it; False where the optimizer has nothing of the
kind. What is done to a tensor is done to the last field of the first parameter that has elements, what is
done to a counter to its step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

State = dict[str, Any]
Change = Callable[[State], bool]

COUNTERS = ("step", "n_iter")
SECOND_MOMENTS = ("exp_avg_sq", "square_avg", "sum", "variance", "row_var", "exp_inf", "step_size")
"""Fields that no step makes negative."""


@dataclass(frozen=True, slots=True)
class Corruption:
    """One corruption.

    Attributes:
        name: what reports call it.
        change: what is done.
        visible: whether a loader can tell from the optimizer it loads into. Numbers that may well be those of
            another run can be told only by a digest.
    """

    name: str
    change: Change
    visible: bool = True

    def of(self, good: State) -> State | None:
        """A corrupted copy, None where the corruption does not apply."""
        state = copy.deepcopy(good)
        return state if self.change(state) else None


def _first_entry(state: State) -> dict[str, Any] | None:
    """The state of the first parameter."""
    entries = list(state["state"].values())
    return entries[0] if entries and isinstance(entries[0], dict) and entries[0] else None


def _tensor_key(entry: dict[str, Any]) -> str | None:
    """The last field with elements along some axis: a counter has none."""
    found = [key for key, value in entry.items() if isinstance(value, torch.Tensor) and value.dim()]
    return found[-1] if found else None


def _counter_key(entry: dict[str, Any]) -> str | None:
    """The field that counts steps."""
    return next((key for key in COUNTERS if key in entry), None)


def _on_entry(change: Callable[[dict[str, Any]], bool]) -> Change:
    def apply(state: State) -> bool:
        entry = _first_entry(state)
        return entry is not None and change(entry)

    return apply


def _on_tensor(make: Callable[[torch.Tensor], Any]) -> Change:
    def apply(entry: dict[str, Any]) -> bool:
        key = _tensor_key(entry)
        if key is None:
            return False
        entry[key] = make(entry[key])
        return True

    return _on_entry(apply)


def _on_step(value: Any) -> Change:
    def apply(entry: dict[str, Any]) -> bool:
        key = _counter_key(entry)
        if key is None:
            return False
        entry[key] = copy.deepcopy(value)
        return True

    return _on_entry(apply)


def _on_group(change: Callable[[dict[str, Any]], bool]) -> Change:
    return lambda state: change(state["param_groups"][0])


def _option(key: str, value: Any) -> Change:
    def apply(group: dict[str, Any]) -> bool:
        if key not in group:
            return False
        group[key] = value
        return True

    return _on_group(apply)


def _without(key: str) -> Change:
    return _on_group(lambda group: group.pop(key, None) is not None)


def _no_state(state: State) -> bool:
    del state["state"]
    return True


def _no_groups(state: State) -> bool:
    del state["param_groups"]
    return True


def _drop_group(state: State) -> bool:
    state["param_groups"].pop()
    return True


def _add_group(state: State) -> bool:
    state["param_groups"].append(copy.deepcopy(state["param_groups"][-1]))
    return True


def _fewer_parameters(state: State) -> bool:
    state["param_groups"][0]["params"].pop()
    return True


def _more_parameters(state: State) -> bool:
    state["param_groups"][0]["params"].append(77)
    return True


def _swap_groups(state: State) -> bool:
    groups = state["param_groups"]
    if len(groups) < 2 or len(groups[0]["params"]) != len(groups[1]["params"]):
        return False
    groups[0]["params"], groups[1]["params"] = groups[1]["params"], groups[0]["params"]
    return True


def _swap_ids(group: int, one: int, two: int) -> Change:
    def apply(state: State) -> bool:
        ids = state["param_groups"][group]["params"]
        ids[one], ids[two] = ids[two], ids[one]
        return bool(state["state"])

    return apply


def _duplicate_id(state: State) -> bool:
    ids = state["param_groups"][0]["params"]
    ids[1] = ids[0]
    return True


def _drop_entry(state: State) -> bool:
    entries = state["state"]
    if not entries:
        return False
    del entries[next(iter(entries))]
    return True


def _unknown_entry(state: State) -> bool:
    entry = _first_entry(state)
    if entry is None:
        return False
    state["state"][99] = copy.deepcopy(entry)
    return True


def _drop_all(state: State) -> bool:
    state["state"] = {}
    return True


def _drop_tensor(entry: dict[str, Any]) -> bool:
    key = _tensor_key(entry)
    return key is not None and entry.pop(key) is not None


def _drop_step(entry: dict[str, Any]) -> bool:
    key = _counter_key(entry)
    return key is not None and entry.pop(key) is not None


def _extra_key(entry: dict[str, Any]) -> bool:
    entry["unknown"] = torch.zeros(3)
    return True


def _filled(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def make(tensor: torch.Tensor) -> torch.Tensor:
        changed = tensor.clone()
        changed.view(-1)[0] = value
        return changed

    return make


def _negative_moment(entry: dict[str, Any]) -> bool:
    key = next((key for key in SECOND_MOMENTS if key in entry), None)
    if key is None:
        return False
    entry[key] = -entry[key].abs() - 1
    return True


def _uneven_steps(entry: dict[str, Any]) -> bool:
    key = _counter_key(entry)
    if key is None:
        return False
    entry[key] = torch.tensor(7.0) if isinstance(entry[key], torch.Tensor) else 7
    return True


def _params_tuple(group: dict[str, Any]) -> bool:
    group["params"] = tuple(group["params"])
    return True


def _group_none(state: State) -> bool:
    state["param_groups"][0] = None
    return True


def _entry_none(state: State) -> bool:
    entries = state["state"]
    if not entries:
        return False
    entries[next(iter(entries))] = None
    return True


def _extra_option(group: dict[str, Any]) -> bool:
    group["unknown_option"] = 1
    return True


def _foreign(build: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]) -> Change:
    """State and options of another optimizer over parameters of the same shapes."""

    def apply(state: State) -> bool:
        shapes = {
            key: next((v.shape for v in entry.values() if isinstance(v, torch.Tensor) and v.dim()), (1,))
            for key, entry in state["state"].items()
            if isinstance(entry, dict)
        }
        ids = [key for group in state["param_groups"] for key in group["params"]]
        parameters = [torch.nn.Parameter(torch.ones(shapes.get(key, (1,)))) for key in ids]
        foreign = build(parameters)
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        foreign.step()
        made = foreign.state_dict()
        (options,) = made["param_groups"]
        kept = [group["params"] for group in state["param_groups"]]
        state["state"] = {key: made["state"][position] for position, key in enumerate(ids)}
        state["param_groups"] = [{**options, "params": params} for params in kept]
        return True

    return apply


LIKE_GOOD = ("param ids swapped within group (same shape)", "step differs across params (p0=7)")
"""What a good state of another run may look like."""

CORRUPTIONS: tuple[Corruption, ...] = tuple(
    Corruption(name, change, name not in LIKE_GOOD)
    for name, change in (
        ("missing 'state' key", _no_state),
        ("missing 'param_groups' key", _no_groups),
        ("group dropped", _drop_group),
        ("group added (dup of last)", _add_group),
        ("group with one param fewer (truncated)", _fewer_parameters),
        ("group with one extra param id", _more_parameters),
        ("groups swapped (equal sizes)", _swap_groups),
        ("param ids swapped within group (same shape)", _swap_ids(0, 0, 1)),
        ("param ids swapped within group (different shape)", _swap_ids(-1, -2, -1)),
        ("duplicate param id in group", _duplicate_id),
        ("state entry of one param missing", _drop_entry),
        ("state entry for unknown param id 99", _unknown_entry),
        ("all state dropped, groups kept (state={})", _drop_all),
        ("state key missing: tensor field", _on_entry(_drop_tensor)),
        ("state key missing: step/counter", _on_entry(_drop_step)),
        ("unknown extra state key", _on_entry(_extra_key)),
        ("tensor transposed (wrong shape)", _on_tensor(lambda t: t.transpose(0, -1).contiguous())),
        ("tensor flattened (wrong rank)", _on_tensor(lambda t: t.reshape(-1))),
        ("tensor truncated to half", _on_tensor(lambda t: t[: (len(t) + 1) // 2].clone())),
        ("tensor shape [1] (broadcastable)", _on_tensor(lambda t: t.reshape(-1)[:1].clone())),
        ("tensor 0-dim (broadcastable)", _on_tensor(lambda t: t.reshape(-1)[0].clone())),
        ("tensor empty [0]", _on_tensor(lambda t: t.reshape(-1)[:0].clone())),
        ("dtype int64 (values truncated)", _on_tensor(lambda t: t.to(torch.int64))),
        ("dtype bool", _on_tensor(lambda t: t.to(torch.bool))),
        ("dtype complex64", _on_tensor(lambda t: t.to(torch.complex64))),
        ("dtype bfloat16 (lossy)", _on_tensor(lambda t: t.to(torch.bfloat16))),
        ("meta tensor", _on_tensor(lambda t: t.to("meta"))),
        ("sparse tensor", _on_tensor(lambda t: t.to_sparse())),
        ("tensor replaced by None", _on_tensor(lambda t: None)),
        ("tensor replaced by list of lists", _on_tensor(lambda t: t.tolist())),
        ("tensor replaced by python float", _on_tensor(lambda t: 0.5)),
        ("NaN in tensor", _on_tensor(_filled(float("nan")))),
        ("Inf in tensor", _on_tensor(_filled(float("inf")))),
        ("negative second moment / accumulator", _on_entry(_negative_moment)),
        ("step = tensor([1.,2.])", _on_step(torch.tensor([1.0, 2.0]))),
        ("step = NaN tensor", _on_step(torch.tensor(float("nan")))),
        ("step = -5 tensor", _on_step(torch.tensor(-5.0))),
        ("step = 1.5 tensor", _on_step(torch.tensor(1.5))),
        ("step = int64 tensor", _on_step(torch.tensor(2))),
        ("step = bool tensor", _on_step(torch.tensor(True))),
        ("step = python int 2", _on_step(2)),
        ("step = python str '2'", _on_step("2")),
        ("step = python str 'abc'", _on_step("abc")),
        ("step = None", _on_step(None)),
        ("step = [2]", _on_step([2])),
        ("step differs across params (p0=7)", _on_entry(_uneven_steps)),
        ("group: lr missing", _without("lr")),
        ("group: lr = '0.1' string", _option("lr", "0.1")),
        ("group: lr = NaN", _option("lr", float("nan"))),
        ("group: lr = -1", _option("lr", -1.0)),
        ("group: lr = True (bool)", _option("lr", True)),
        ("group: betas = (2.,2.)", _option("betas", (2.0, 2.0))),
        ("group: betas = [.9] (short)", _option("betas", [0.9])),
        ("group: betas missing", _without("betas")),
        ("group: eps = -1", _option("eps", -1.0)),
        ("group: momentum = 'x'", _option("momentum", "x")),
        ("group: weight_decay = NaN", _option("weight_decay", float("nan"))),
        ("group: amsgrad flipped to True", _option("amsgrad", True)),
        ("group: fused = 'no' (truthy str)", _option("fused", "no")),
        ("group: capturable = True on CPU", _option("capturable", True)),
        ("group: unknown option added", _on_group(_extra_option)),
        ("group: params is a tuple", _on_group(_params_tuple)),
        ("group entry is None", _group_none),
        ("state dict of a different optimizer class", _foreign(lambda p: torch.optim.SGD(p, momentum=0.9))),
        ("state dict of a different optimizer class (Adam)", _foreign(torch.optim.Adam)),
        ("state of per-param = None", _entry_none),
        ("nested dict in state", _on_tensor(lambda t: {"inner": t})),
        ("tensor subclass in state", _on_tensor(lambda t: torch.nn.Parameter(t.clone()))),
        ("tensor expanded from one element", _on_tensor(lambda t: t.reshape(-1)[:1].expand(t.shape))),
    )
)
