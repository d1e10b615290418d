"""A state dict with one thing wrong: the fixed list that optimizers are tried with."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch

from verifier.oracle.probes import changes_of_groups as groups
from verifier.oracle.probes import changes_of_state as entries
from verifier.oracle.probes.changes_of_state import Change
from verifier.oracle.probes.torch_form import State, has_torch_form, looks_like

ToldBy = Literal["value", "form", "digest"]


@dataclass(frozen=True, slots=True)
class Corruption:
    """One corruption.

    Attributes:
        name: what reports call it.
        change: what is done to a state dict; False where the optimizer has nothing of the kind.
        told_by: how a loader can tell it from a good state: by a value that no state has; by keys, shapes and
            dtypes, where they are other than in the optimizer it loads into; or by a digest alone, for the
            numbers may well be those of another run.
    """

    name: str
    change: Change
    told_by: ToldBy = "value"

    def of(self, good: State) -> State | None:
        """A corrupted copy, None where the corruption does not apply; it is for dicts of torch's form."""
        if not has_torch_form(good):
            return None
        state = copy.deepcopy(good)
        return state if self.change(state) else None

    def taken_for_good(self, corrupted: State, good: Iterable[State]) -> bool:
        """Whether no loader can tell it from these good states of several steps without a digest."""
        return self.told_by == "digest" or (self.told_by == "form" and looks_like(corrupted, good))


BY_DIGEST = ("param ids swapped within group (same shape)", "step differs across params (p0=7)")
"""What a good state of another run may look like, whatever the optimizer is."""

BY_FORM = (
    "groups swapped (equal sizes)",
    "param ids swapped within group (different shape)",
    "state entry of one param missing",
    "all state dropped, groups kept (state={})",
    "state key missing: tensor field",
    "state key missing: step/counter",
    "tensor transposed (wrong shape)",
    "tensor flattened (wrong rank)",
    "tensor truncated to half",
    "tensor shape [1] (broadcastable)",
    "dtype int64 (values truncated)",
    "dtype bool",
    "dtype complex64",
    "dtype bfloat16 (lossy)",
    "step = int64 tensor",
    "step = python int 2",
    "state dict of a different optimizer class",
    "state dict of a different optimizer class (Adam)",
    "tensor expanded from one element",
)
"""What is the form of a good state in some optimizers: one that is given by another class may be of this one,
a parameter without state may have had no gradient yet."""


def _told_by(name: str) -> ToldBy:
    if name in BY_DIGEST:
        return "digest"
    return "form" if name in BY_FORM else "value"


def _subclass(tensor: torch.Tensor) -> torch.Tensor:
    return torch.nn.Parameter(tensor.clone(), requires_grad=tensor.is_floating_point())


def _sgd(parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, momentum=0.9)


CORRUPTIONS: tuple[Corruption, ...] = tuple(
    Corruption(name, change, _told_by(name))
    for name, change in (
        ("missing 'state' key", groups.no_state),
        ("missing 'param_groups' key", groups.no_groups),
        ("group dropped", groups.drop_group),
        ("group added (dup of last)", groups.add_group),
        ("group with one param fewer (truncated)", groups.fewer_parameters),
        ("group with one extra param id", groups.more_parameters),
        ("groups swapped (equal sizes)", groups.swap_groups),
        ("param ids swapped within group (same shape)", groups.swap_ids(0, 0, 1)),
        ("param ids swapped within group (different shape)", groups.swap_ids(-1, -2, -1)),
        ("duplicate param id in group", groups.duplicate_id),
        ("state entry of one param missing", entries.drop_entry),
        ("state entry for unknown param id 99", entries.unknown_entry),
        ("all state dropped, groups kept (state={})", entries.drop_all),
        ("state key missing: tensor field", entries.on_entry(entries.drop_tensor)),
        ("state key missing: step/counter", entries.on_entry(entries.drop_step)),
        ("unknown extra state key", entries.on_entry(entries.extra_key)),
        ("tensor transposed (wrong shape)", entries.on_tensor(lambda t: t.transpose(0, -1).contiguous())),
        ("tensor flattened (wrong rank)", entries.on_tensor(lambda t: t.reshape(-1))),
        ("tensor truncated to half", entries.on_tensor(lambda t: t[: (len(t) + 1) // 2].clone())),
        ("tensor shape [1] (broadcastable)", entries.on_tensor(lambda t: t.reshape(-1)[:1].clone())),
        ("tensor 0-dim (broadcastable)", entries.on_tensor(lambda t: t.reshape(-1)[0].clone())),
        ("tensor empty [0]", entries.on_tensor(lambda t: t.reshape(-1)[:0].clone())),
        ("dtype int64 (values truncated)", entries.on_tensor(lambda t: t.to(torch.int64))),
        ("dtype bool", entries.on_tensor(lambda t: t.to(torch.bool))),
        ("dtype complex64", entries.on_tensor(lambda t: t.to(torch.complex64))),
        ("dtype bfloat16 (lossy)", entries.on_tensor(lambda t: t.to(torch.bfloat16))),
        ("meta tensor", entries.on_tensor(lambda t: t.to("meta"))),
        ("sparse tensor", entries.on_tensor(lambda t: t.to_sparse())),
        ("tensor replaced by None", entries.on_tensor(lambda t: None)),
        ("tensor replaced by list of lists", entries.on_tensor(lambda t: t.tolist())),
        ("tensor replaced by python float", entries.on_tensor(lambda t: 0.5)),
        ("NaN in tensor", entries.on_tensor(entries.filled(float("nan")), floating=True)),
        ("Inf in tensor", entries.on_tensor(entries.filled(float("inf")), floating=True)),
        ("negative second moment / accumulator", entries.on_entry(entries.negative_moment)),
        ("step = tensor([1.,2.])", entries.on_step(torch.tensor([1.0, 2.0]))),
        ("step = NaN tensor", entries.on_step(torch.tensor(float("nan")))),
        ("step = -5 tensor", entries.on_step(torch.tensor(-5.0))),
        ("step = 1.5 tensor", entries.on_step(torch.tensor(1.5))),
        ("step = int64 tensor", entries.on_step(torch.tensor(2))),
        ("step = bool tensor", entries.on_step(torch.tensor(True))),
        ("step = python int 2", entries.on_step(2)),
        ("step = python str '2'", entries.on_step("2")),
        ("step = python str 'abc'", entries.on_step("abc")),
        ("step = None", entries.on_step(None)),
        ("step = [2]", entries.on_step([2])),
        ("step differs across params (p0=7)", entries.on_entry(entries.uneven_steps)),
        ("group: lr missing", groups.without("lr")),
        ("group: lr = '0.1' string", groups.option("lr", "0.1")),
        ("group: lr = NaN", groups.option("lr", float("nan"))),
        ("group: lr = -1", groups.option("lr", -1.0)),
        ("group: lr = True (bool)", groups.option("lr", True)),
        ("group: betas = (2.,2.)", groups.option("betas", (2.0, 2.0))),
        ("group: betas = [.9] (short)", groups.option("betas", [0.9])),
        ("group: betas missing", groups.without("betas")),
        ("group: eps = -1", groups.option("eps", -1.0)),
        ("group: momentum = 'x'", groups.option("momentum", "x")),
        ("group: weight_decay = NaN", groups.option("weight_decay", float("nan"))),
        ("group: amsgrad flipped to True", groups.option("amsgrad", True)),
        ("group: fused = 'no' (truthy str)", groups.option("fused", "no")),
        ("group: capturable = True on CPU", groups.option("capturable", True)),
        ("group: unknown option added", groups.on_group(groups.extra_option)),
        ("group: params is a tuple", groups.on_group(groups.params_tuple)),
        ("group entry is None", groups.group_none),
        ("state dict of a different optimizer class", groups.foreign(_sgd)),
        ("state dict of a different optimizer class (Adam)", groups.foreign(torch.optim.Adam)),
        ("state of per-param = None", entries.entry_none),
        ("nested dict in state", entries.on_tensor(lambda t: {"inner": t})),
        ("tensor subclass in state", entries.on_tensor(_subclass)),
        ("tensor expanded from one element", entries.on_tensor(lambda t: t.reshape(-1)[:1].expand(t.shape))),
    )
)
