"""Which optimizer of ``torch.optim`` has made a state dict, told by what it keeps and by its groups' options.

A state dict does not name its optimizer, and others keep state under the same names. So a kind is told only
where nothing speaks against it; of an optimizer that is not told nothing is demanded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from verifier.contracts.document import Contract
from verifier.contracts.known import known_contract

_FUSED = frozenset({"maximize", "foreach", "differentiable", "fused"})
_CAPTURED = frozenset({"maximize", "foreach", "differentiable", "capturable"})
_MARKS = frozenset({"maximize", "foreach"})
"""Options of every group that torch has made since 1.12, but for the kinds that have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """An optimizer of ``torch.optim``.

    Attributes:
        name: of its class.
        reads: options that its step reads and that loading does not fill in where an older torch lacked them.
        may: its other options, of any version.
        marks: options of which all are there where this torch, and nobody else, has made a group.
    """

    name: str
    reads: frozenset[str]
    may: frozenset[str]
    marks: frozenset[str] = _MARKS

    @property
    def at_first(self) -> bool:
        """Whether the first parameter has the state of all."""
        return self.name == "LBFGS"

    @property
    def options(self) -> frozenset[str]:
        """All that a group of it can have, unless somebody has added to it."""
        return self.reads | self.may

    def keeps(self, states: Collection[frozenset[str]]) -> bool:
        """Whether it may have made these states; one of them has to be all that it keeps of a parameter."""
        declared = contract_of(self.name)
        complete = {frozenset(variant.fields) for variant in declared.variants}
        fields = {field.name for field in declared.fields}
        return not states or (all(one <= fields for one in states) and not complete.isdisjoint(states))


def _kind(
    name: str, reads: str, may: str = "", flags: frozenset[str] = _CAPTURED, marks: frozenset[str] = _MARKS
) -> Kind:
    return Kind(name=name, reads=frozenset(reads.split()), may=flags | frozenset(may.split()), marks=marks)


KINDS: Sequence[Kind] = (
    _kind("Adam", "lr betas eps weight_decay", "amsgrad fused decoupled_weight_decay"),
    _kind("AdamW", "lr betas eps weight_decay", "amsgrad fused decoupled_weight_decay"),
    _kind("NAdam", "lr betas eps weight_decay momentum_decay", "decoupled_weight_decay"),
    _kind("RAdam", "lr betas eps weight_decay", "decoupled_weight_decay"),
    _kind("Adamax", "lr betas eps weight_decay"),
    _kind("SparseAdam", "lr betas eps", "maximize", frozenset(), frozenset()),
    _kind("Adadelta", "lr rho eps weight_decay"),
    _kind("Adagrad", "lr lr_decay eps weight_decay", "initial_accumulator_value", _FUSED),
    _kind("Adafactor", "lr beta2_decay eps d weight_decay maximize", "foreach", frozenset()),
    _kind("RMSprop", "lr alpha eps weight_decay", "momentum centered"),
    _kind("Rprop", "lr etas step_sizes"),
    _kind("ASGD", "lr lambd alpha t0 weight_decay"),
    _kind("SGD", "lr momentum dampening weight_decay", "nesterov", _FUSED),
    _kind(
        "LBFGS",
        "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
        flags=frozenset(),
        marks=frozenset({"tolerance_grad", "tolerance_change"}),
    ),
    _kind(
        "Muon",
        "lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn",
        flags=frozenset(),
        marks=frozenset({"ns_coefficients", "ns_steps"}),
    ),
)
_VOCABULARY = frozenset[str]().union(*[kind.options for kind in KINDS])


@cache
def contract_of(name: str) -> Contract:
    """What an optimizer of ``torch.optim`` declares of its state."""
    declared = known_contract(f"torch.optim.{name}")
    if declared is None:
        raise LookupError(f"torch.optim.{name} has no contract")
    return declared


def kinds_of(options: Collection[str], states: Sequence[frozenset[str]]) -> tuple[Kind, ...]:
    """The kinds that a group may be of, all equally near; none where it may be of another optimizer.

    Options that no optimizer of torch has, such as those of schedulers, say nothing.

    Args:
        options: the options of the group.
        states: the names of what is kept for each of its parameters.
    """
    given = frozenset(options)
    kept = [one for one in states if one]
    possible = [kind for kind in KINDS if given & _VOCABULARY <= kind.options and kind.keeps(kept)]
    fewest = min([len(kind.reads - given) for kind in possible], default=0)
    nearest = tuple([kind for kind in possible if len(kind.reads - given) == fewest])
    return nearest if not fewest or _shown(nearest, given, bool(kept)) else ()


def _shown(kinds: Sequence[Kind], given: frozenset[str], keeps_state: bool) -> bool:
    """Whether a group that lacks something is of one of these kinds all the same, and of nobody else.

    It needs more than a half of what the kind reads, the marks of torch, and state, or else an option that no
    other kind has.
    """
    others = [kind.options for kind in KINDS if kind not in kinds]
    own = given & _VOCABULARY - frozenset[str]().union(*others)
    return bool(keeps_state or own) and all(
        2 * len(kind.reads & given) > len(kind.reads) and bool(kind.marks) and kind.marks <= given
        for kind in kinds
    )


def fields_of(kinds: Sequence[Kind]) -> Mapping[str, str]:
    """The state that all of these kinds keep as tensors of many numbers, and the dtype that they declare."""
    found: dict[str, str] = {}
    for kind in kinds:
        for field in contract_of(kind.name).fields:
            if field.geometry.kind != "scalar" and not field.dtype.startswith("host_"):
                found.setdefault(field.name, field.dtype)
    return found
