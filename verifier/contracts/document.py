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

FLAGS: Mapping[str, str] = {
    "canonical_fqns": "parameters have names that are the same whatever the topology",
    "stable_shard_identity": "what a shard is called stays the same from run to run; rests on canonical_fqns",
    "canonical_state_io": "a canonical transport is declared among the checkpoints",
    "post_sharding": "it is built before its parameters are sharded; rests on parameter_rebinding",
    "parameter_rebinding": "its parameters can be replaced by others while it lives",
    "non_owners_pruned": "who does not own a parameter has no entry for it at all",
    "offload": "state may be on another device than its parameter",
    "foreach": "there is an implementation that steps many parameters at a time",
    "fused": "there is an implementation of the step in one kernel",
}
"""The flags a contract may declare, with what each says; each is false where it is not named."""
CAPABILITIES = tuple(FLAGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateField:
    """One state key.

    Attributes:
        name: the key, or the beginning of keys where ``key_match`` is prefix.
        scope: common to all parameters, of one parameter, derived from others (never authoritative), carried
            for transport, or kept without being read (inert).
        geometry: how it is made from the parameter.
        dtype: of its elements; param for that of the parameter, host_... for a value of Python's.
        checkpointed: whether it is saved; what cannot be computed again is.
        optional: whether the key may be absent. Not of a parameter: there two variants say so.
        distribution: whether it follows the parameter's cut, is equal everywhere (replicate), is with the
            owner, or is each rank's own (none), so that it moves nowhere.
        reduction: how ranks that share an element compute it; None where none is needed.
        scale_power: p such that the field times s**p belongs to the parameter times s; None where that is not
            declared.
        modes: sharded modes in which it exists; empty for all.
        key_match: whether keys are the name, or begin with it; state of a parameter is matched exactly.
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
    """Which parameters a variant is for, by their number of elements.

    Attributes:
        id: its name.
        min_numel: the least number of elements; None for any.
        below_numel: a number of elements that is too large; None for none.
        measured_on: whether elements of the whole parameter count, or of the shard that a rank has.
    """

    id: str
    min_numel: int | None = None
    below_numel: int | None = None
    measured_on: Literal["global", "local"] = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One legal combination of keys.

    Attributes:
        name: of the variant.
        fields: the keys that are there, all of them.
        layouts: of the parameters that it is for.
        extent: what a rank holds by it: nothing but single values (metadata), the state of its shard (local),
            of the whole parameter (global), or of the parameter that it owns (owner).
        initialized: whether it is the state of a parameter that has been stepped, or of one before that.
        role: whether it is for who owns the parameter, for who does not, or for any.
        inactive: fields that are there and not read, in a variant for migration only.
        migration_only: whether it is only read from old checkpoints.
        ranks: numbers of dimensions of the parameters; None for all that the contract supports.
        exclude_ranks: numbers of dimensions that it is not for.
        mode: the sharded mode that it is for; None for any.
        predicate: the numbers of elements that it is for; None for all.
    """

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
    """What the step of one element reads, and what it asks of a shard.

    Attributes:
        reads: only the element, its block, its row and column, the matrix, the tensor, or other tensors as
            well (global).
        empty_shard: what a step does on a shard without elements; None where that is not said.
        requires_contiguous: whether shards have to be contiguous in memory.
    """

    reads: Reads
    empty_shard: Literal["noop", "error"] | None = None
    requires_contiguous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One claim: the optimizer trains parameters of this layout.

    Attributes:
        layout: of the parameters.
        group: among whom the step communicates: nobody, the world, the mesh of the parameter, or whom an
            adapter says.
        mesh_dims: numbers of axes of the meshes, for dim_shard; None otherwise.
        mode: the sharded mode; None for the only one.
        needs_full_storage: whether a rank that steps has to hold all of the parameter.
        needs_full_matrix: whether the step gathers the whole matrix.
        post_sync: whether parameters are sent around after the step.
    """

    layout: Layout
    group: Group
    mesh_dims: tuple[int, ...] | None = None
    mode: str | None = None
    needs_full_storage: bool = False
    needs_full_matrix: bool = False
    post_sync: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One claim: these layouts are saved and loaded; ``changing`` ones may come back in another cut.

    Attributes:
        transport: how state is saved: by the optimizer's own state_dict (native), by each rank for itself
            (rank_local), by the children (composite), or in a form that no topology is in, of what a rank has
            (canonical_local) or of everything (canonical_global).
        same: layouts that are loaded into the cut they were saved from.
        changing: layouts that may come back in another cut.
        changes: what may change: who owns a parameter, or how it is cut.
        group: among whom it communicates.
        collective: whether all ranks have to call it.
        atomic: whether a load that is refused leaves everything as it was.
        atomic_scope: for this instance, or for the whole group; of an atomic one only.
        modes: sharded modes that are saved; empty for all.
        dtype_policy: whether dtypes come back exactly, or floating state in that of its parameter.
        mesh_dims: numbers of axes of the meshes, where dim_shard is saved; None for those of training.
    """

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
    """One optimizer inside a composite.

    Attributes:
        role: what the composite calls it; one of its namespaces.
        implementation: dotted name of the optimizer.
        contract: its own; None where it has none.
    """

    role: str
    implementation: str
    contract: Contract | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleEquation:
    """The sum of coefficient times power over the symbols is 0.

    Attributes:
        name: what it says of the step.
        terms: coefficients of fields, hyperparameters, param and grad.
    """

    name: str
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Everything an optimizer declares.

    Attributes:
        implementation: dotted name of the optimizer.
        fields: the keys of its state.
        variants: which of them a parameter has, and when.
        update: what its step reads; None for a composite, whose children say it.
        training: what it trains.
        checkpoints: what it promises of saving and loading.
        hyperparameters: scale power by name, None where none is declared.
        capabilities: the flags that are true; each is false where it is not named.
        ranks: numbers of parameter dimensions that are supported; None for all.
        precisions: dtypes of the parameters that it trains.
        namespaces: prefixes of a composite's state, at least one for each child's role.
        children: the optimizers that a composite is made of.
        scale_equations: why powers of the unit are what they are.
        schema_version: of the form of this document.
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
