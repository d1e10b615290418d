"""Which tensors of a checkpoint are state of an optimizer and no parameters, by their names."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from itertools import pairwise

from verifier.contracts.known import known_contract, known_names

_OPTIMIZERS = frozenset({"optim", "optimizer", "optimizers"})
_STATE = "state"
_BELOW = frozenset({_STATE, "param_groups"})


def is_state_name(name: str, fields: Collection[str] = ()) -> bool:
    """Whether a name is one of optimizer state, of ``fields`` or of fields that are well known.

    Three forms are in use: ``optim.state.<parameter>.<field>`` and ``optimizer.state.<field>.<parameter>``,
    whatever the field is, and ``<anything>.state.<parameter>.<field>`` for a field that is known.
    """
    parts = name.split(".")
    if any(one in _OPTIMIZERS and two in _BELOW for one, two in pairwise(parts)):
        return True
    known = well_known_fields() | frozenset(fields)
    return _STATE in parts[:-2] and parts[-1] in known


@cache
def well_known_fields() -> frozenset[str]:
    """The names of state of torch's optimizers, but for those of one letter."""
    contracts = [known_contract(name) for name in known_names() if name.startswith("torch.optim.")]
    found = [field.name for contract in contracts if contract is not None for field in contract.fields]
    return frozenset(name for name in found if len(name) > 1)
