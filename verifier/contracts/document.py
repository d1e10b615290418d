"""An optimizer contract as data: what an optimizer declares of its state, its training and its checkpoints.

The JSON form has the same members (``docs/contract.schema.json``); ``decoding`` reads it strictly. Nothing
here is checked: that is what the rules are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifier.contracts.geometry import Geometry, Reduction

Scope = Literal["common", "parameter", "derived", "transport", "inert"]
Distribution = Literal["follow", "replicate", "owner", "none"]
KeyMatch = Literal["exact", "prefix"]
Layout = Literal["replicated", "flat_shard", "dim_shard", "whole_owner"]
Extent = Literal["metadata", "local", "global", "owner"]
Role = Literal["any", "owner", "non_owner"]
Group = Literal["none", "world", "mesh", "adapter"]
Reads = Literal["elementwise", "block", "row_col", "matrix", "tensor", "global"]
Transport = Literal["native", "rank_local", "composite", "canonical_local", "canonical_global"]
Change = Literal["owner_redistribution", "placement_reshard"]
DtypePolicy = Literal["exact", "cast_to_param"]
Precision = Literal["float32", "bfloat16", "float16", "float64"]
Dtype = Literal[
    "param",
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "complex64",
    "complex128",
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "host_bool",
    "host_int",
    "host_float",
    "host_text",
    "host_list",
]
"""A dtype of torch; ``param`` for that of the parameter, ``host_...`` for a value of Python's."""

CAPABILITIES = (
    "canonical_fqns",
    "stable_shard_identity",
    "canonical_state_io",
    "post_sharding",
    "parameter_rebinding",
    "non_owners_pruned",
    "offload",
    "foreach",
    "fused",
)
"""The flags a contract may declare; each is false where it is not named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateField:
    """One state key.

    Attributes:
        name: the key, or the beginning of keys where ``key_match`` is prefix.
        scope: common to all parameters, of one parameter, derived from others (never authoritative), carried
            for transport, or kept without being read (inert).
        geometry: how it is made from the parameter.
        dtype: of its elements.
        distribution: whether it follows the parameter's cut, is equal everywhere, or is with the owner.
        reduction: how ranks that share an element compute it; None where none is needed.
        scale_power: p such that the field times s**p belongs to the parameter times s; None where that is not
            declared.
        modes: sharded modes in which it exists; empty for all.
    """

    name: str
    scope: Scope
    geometry: Geometry
    dtype: Dtype
    checkpointed: bool
    optional: bool
    distribution: Distribution
    reduction: Reduction | None = None
    scale_power: int | None = None
    modes: tuple[str, ...] = ()
    key_match: KeyMatch = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """Which parameters a variant is for, by their number of elements."""

    id: str
    min_numel: int | None = None
    below_numel: int | None = None
    measured_on: Literal["global", "local"] = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One legal combination of keys. ``ranks`` and ``exclude_ranks`` are numbers of parameter dimensions."""

    name: str
    fields: tuple[str, ...]
    layouts: tuple[Layout, ...]
    extent: Extent
    initialized: bool
    role: Role = "any"
    inactive: tuple[str, ...] = ()
    migration_only: bool = False
    ranks: tuple[int, ...] | None = None
    exclude_ranks: tuple[int, ...] = ()
    mode: str | None = None
    predicate: Predicate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What the step of one element reads, and what it asks of a shard."""

    reads: Reads
    empty_shard: Literal["noop", "error"] | None = None
    requires_contiguous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One claim: the optimizer trains parameters of this layout. ``mesh_dims`` are ranks of meshes."""

    layout: Layout
    group: Group
    mesh_dims: tuple[int, ...] | None = None
    mode: str | None = None
    needs_full_storage: bool = False
    needs_full_matrix: bool = False
    post_sync: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One claim: these layouts are saved and loaded; ``changing`` ones may come back in another cut."""

    transport: Transport
    same: tuple[Layout, ...]
    changing: tuple[Layout, ...]
    changes: tuple[Change, ...]
    group: Group
    collective: bool
    atomic: bool
    atomic_scope: Literal["instance", "group"] | None = None
    modes: tuple[str, ...] = ()
    dtype_policy: DtypePolicy = "exact"
    mesh_dims: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One optimizer inside a composite; ``contract`` is None where it has none of its own."""

    role: str
    implementation: str
    contract: Contract | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleEquation:
    """The sum of coefficient times power over the symbols is 0."""

    name: str
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Everything an optimizer declares.

    Attributes:
        implementation: dotted name of the optimizer.
        hyperparameters: scale power by name, None where none is declared.
        update: what its step reads; None for a composite, whose children say it.
        ranks: numbers of parameter dimensions that are supported; None for all.
        capabilities: the flags of CAPABILITIES that are true.
        namespaces: prefixes of a composite's state, at least one for each child's role.
    """

    implementation: str
    fields: tuple[StateField, ...]
    variants: tuple[Variant, ...]
    update: Update | None
    training: tuple[Training, ...]
    checkpoints: tuple[Checkpoint, ...]
    hyperparameters: Mapping[str, int | None] = field(default_factory=dict)
    capabilities: frozenset[str] = frozenset()
    ranks: tuple[int, ...] | None = None
    precisions: tuple[Precision, ...] = ()
    namespaces: tuple[str, ...] = ()
    children: tuple[Child, ...] = ()
    scale_equations: tuple[ScaleEquation, ...] = ()
    schema_version: int = 1
