"""From a JSON value to a contract, with every rule that its types break.

Rules: R37 to R40, R43 to R46, R50 to R55, N1 to N3; what concerns several values at once is in ``rules``.
R56 is what comes of it: records that cannot be changed, with no part of the document in them.
"""

from __future__ import annotations

from typing import Literal, cast

from verifier.contracts.document import (
    CAPABILITIES,
    Change,
    Checkpoint,
    Child,
    Contract,
    Distribution,
    Dtype,
    DtypePolicy,
    Extent,
    Group,
    KeyMatch,
    Layout,
    Precision,
    Predicate,
    Reads,
    Role,
    ScaleEquation,
    Scope,
    StateField,
    Training,
    Transport,
    Update,
    Variant,
)
from verifier.contracts.geometry import Domain, Geometry, Kind, Reduction, RunTimeSize
from verifier.contracts.reading import UNREAD, Members, Value, shown, why_no_name

MOST_EQUATIONS = 100
"""Of scale, and terms of one; they are solved exactly."""

Empty = Literal["noop", "error"]
AtomicScope = Literal["instance", "group"]
Measured = Literal["global", "local"]
Operation = Literal["mean", "sum", "max"]
Weighting = Literal["sum_then_divide", "mean_of_means"]


def decode_contract(value: Value) -> Contract:
    """The contract; what cannot be read of it is noted and stands for something harmless."""
    members = Members(value, "R55")
    version = members.need("schema_version", "R55", 1)
    if type(version.raw) is not int or version.raw != 1:
        version.broken("R55", f"schema_version is the integer 1, not {shown(version.raw)}")
    contract = Contract(
        implementation=members.need("implementation", "R55", UNREAD).text("R55"),
        fields=tuple(map(_field, members.need("fields", "N2", []).items("N2"))),
        variants=tuple(map(_variant, members.need("variants", "N2", []).items("N2"))),
        update=members.optional("update", _update, None),
        training=tuple(map(_training, members.need("training", "N2", []).items("N2"))),
        checkpoints=tuple(map(_checkpoint, members.need("checkpoints", "N2", []).items("N2"))),
        hyperparameters=members.optional("hyperparameters", _hyperparameters, {}),
        capabilities=members.optional("capabilities", _capabilities, frozenset()),
        ranks=members.optional("ranks", _rank_list, None),
        precisions=members.optional("precisions", _precisions, ()),
        namespaces=members.optional("namespaces", lambda v: _texts(v, "R47"), ()),
        children=members.optional("children", _children, ()),
        scale_equations=members.optional("scale_equations", _equations, ()),
    )
    if contract.update is None and not contract.children:
        value.notes.note("N2", value.pointer, "there is no update, and no children that have one")
    members.done()
    return contract


def _texts(value: Value, rule: str) -> tuple[str, ...]:
    """A list of names. A single text where a list is due would fall apart into letters (N1)."""
    if type(value.raw) is str:
        value.broken("N1", f"{shown(value.raw)} is a text where a list of texts is due")
        return ()
    return tuple([item.text(rule) for item in value.items("N1")])


def _words(value: Value, rule: str, kind: object, default: str) -> tuple[str, ...]:
    if type(value.raw) is str:
        value.broken("N1", f"{shown(value.raw)} is a text where a list is due")
        return ()
    return tuple([item.word(rule, kind, default) for item in value.items("N1")])


def _layouts(value: Value, rule: str) -> tuple[Layout, ...]:
    return cast(tuple[Layout, ...], _words(value, rule, Layout, "replicated"))


def _numbers(value: Value, rule: str, least: int = 0) -> tuple[int, ...]:
    return tuple([item.integer(rule, least=least, default=least) for item in value.items(rule)])


def _rank_list(value: Value) -> tuple[int, ...] | None:
    if value.raw is None:
        return None
    ranks = _numbers(value, "R53")
    if len(set(ranks)) != len(ranks):
        value.broken("R53", "a number of dimensions is listed twice")
    return ranks


def _field(value: Value) -> StateField:
    members = Members(value, "N2")
    field = StateField(
        name=members.need("name", "R37", UNREAD).text("R37"),
        scope=cast(Scope, members.need("scope", "R38", "parameter").word("R38", Scope, "parameter")),
        geometry=_geometry(members.need("geometry", "R38", {"kind": "parameter"})),
        dtype=cast(Dtype, members.need("dtype", "N2", "param").word("N2", Dtype, "param")),
        checkpointed=members.need("checkpointed", "R39", True).flag("R39", True),
        optional=members.need("optional", "R39", False).flag("R39"),
        distribution=cast(
            Distribution, members.need("distribution", "R38", "follow").word("R38", Distribution, "follow")
        ),
        reduction=members.optional("reduction", _reduction, None),
        scale_power=members.optional("scale_power", _power, None),
        modes=members.optional("modes", lambda v: _texts(v, "R40"), ()),
        key_match=cast(
            KeyMatch, members.optional("key_match", lambda v: v.word("R38", KeyMatch, "exact"), "exact")
        ),
    )
    members.done()
    return field


def _power(value: Value) -> int | None:
    return None if value.raw is None else value.integer("N34")


def _geometry(value: Value) -> Geometry:
    members = Members(value, "R38")
    kind = members.need("kind", "R38", "parameter")
    geometry = Geometry(
        kind=cast(Kind, kind.word("R38", Kind, "parameter")),
        size=members.optional("size", _size, None),
        domain=cast(Domain, members.optional("domain", lambda v: v.word("R38", Domain, "tensor"), "tensor")),
        axis=members.optional("axis", lambda v: v.integer("N12"), None),
        per=members.optional("per", lambda v: v.integer("N12", least=1, default=1), None),
        keepdim=members.optional("keepdim", lambda v: v.flag("R39"), False),
        entries=members.optional("entries", lambda v: v.integer("N12", least=1, default=1), None),
        learned=members.optional("learned", lambda v: v.flag("R39"), False),
    )
    members.done()
    is_known = "kind" in members.there and geometry.kind == kind.raw
    return geometry if is_known else Geometry(kind="parameter")  # else members would be of the wrong kind


def _size(value: Value) -> int | RunTimeSize:
    if type(value.raw) is dict:
        members = Members(value, "N12")
        field = members.need("field", "N12", UNREAD).text("N12")
        members.done()
        return RunTimeSize(field)
    return value.integer("N12", least=1, default=1)


def _reduction(value: Value) -> Reduction | None:
    if value.raw is None:
        return None
    members = Members(value, "N2")
    reduction = Reduction(
        axes=_numbers(members.need("axes", "N2", []), "N12", least=-64),
        op=cast(Operation, members.need("op", "N2", "mean").word("N2", Operation, "mean")),
        weighting=cast(
            Weighting | None,
            members.optional("weighting", lambda v: v.word("N2", Weighting, "sum_then_divide"), None),
        ),
    )
    members.done()
    return reduction


def _variant(value: Value) -> Variant:
    members = Members(value, "N2")
    variant = Variant(
        name=members.need("name", "R43", UNREAD).text("R43"),
        fields=_texts(members.need("fields", "R43", []), "R43"),
        layouts=_layouts(members.need("layouts", "R43", []), "R43"),
        extent=cast(Extent, members.need("extent", "R44", "local").word("R44", Extent, "local")),
        initialized=members.need("initialized", "R44", True).flag("R44", True),
        role=cast(Role, members.optional("role", lambda v: v.word("R44", Role, "any"), "any")),
        inactive=members.optional("inactive", lambda v: _texts(v, "R45"), ()),
        migration_only=members.optional("migration_only", lambda v: v.flag("R44"), False),
        ranks=members.optional("ranks", _variant_ranks, None),
        exclude_ranks=members.optional("exclude_ranks", lambda v: _numbers(v, "R46"), ()),
        mode=members.optional("mode", lambda v: None if v.raw is None else v.text("N1"), None),
        predicate=members.optional("predicate", _predicate, None),
    )
    members.done()
    return variant


def _variant_ranks(value: Value) -> tuple[int, ...] | None:
    return None if value.raw is None else _numbers(value, "R46")


def _predicate(value: Value) -> Predicate | None:
    if value.raw is None:
        return None
    members = Members(value, "N2")
    predicate = Predicate(
        id=members.need("id", "N1", UNREAD).text("N1"),
        min_numel=members.optional("min_numel", _numel, None),
        below_numel=members.optional("below_numel", _numel, None),
        measured_on=cast(
            Measured, members.optional("measured_on", lambda v: v.word("N33", Measured, "global"), "global")
        ),
    )
    members.done()
    return predicate


def _numel(value: Value) -> int | None:
    return None if value.raw is None else value.integer("N2", least=0)


def _update(value: Value) -> Update:
    members = Members(value, "N2")
    update = Update(
        reads=cast(Reads, members.need("reads", "N2", "elementwise").word("N2", Reads, "elementwise")),
        empty_shard=cast(
            Empty | None, members.optional("empty_shard", lambda v: v.word("N40", Empty, "noop"), None)
        ),
        requires_contiguous=members.optional("requires_contiguous", lambda v: v.flag("N38"), False),
    )
    members.done()
    return update


def _mesh(value: Value) -> tuple[int, ...] | None:
    if value.raw is None:
        return None
    if type(value.raw) is not list:
        value.broken("R50", f"{shown(value.raw)} is no list")
        return (1,)  # none at all would break a rule of its own
    dims = _numbers(value, "R50", least=1)
    if len(set(dims)) != len(dims):
        value.broken("R50", "a rank of meshes is listed twice")
    return dims


def _training(value: Value) -> Training:
    members = Members(value, "N2")
    training = Training(
        layout=cast(Layout, members.need("layout", "R50", "replicated").word("R50", Layout, "replicated")),
        group=cast(Group, members.need("group", "R50", "none").word("R50", Group, "none")),
        mesh_dims=members.optional("mesh_dims", _mesh, None),
        mode=members.optional("mode", lambda v: None if v.raw is None else v.text("N1"), None),
        needs_full_storage=members.optional("needs_full_storage", lambda v: v.flag("R50"), False),
        needs_full_matrix=members.optional("needs_full_matrix", lambda v: v.flag("R50"), False),
        post_sync=members.optional("post_sync", lambda v: v.flag("R50"), False),
    )
    members.done()
    return training


def _checkpoint(value: Value) -> Checkpoint:
    members = Members(value, "N2")
    checkpoint = Checkpoint(
        transport=cast(
            Transport, members.need("transport", "R51", "native").word("R51", Transport, "native")
        ),
        same=_layouts(members.need("same", "R51", []), "R51"),
        changing=_layouts(members.need("changing", "R51", []), "R51"),
        changes=cast(
            tuple[Change, ...],
            _words(members.need("changes", "R52", []), "R52", Change, "placement_reshard"),
        ),
        group=cast(Group, members.need("group", "R51", "none").word("R51", Group, "none")),
        collective=members.need("collective", "R51", False).flag("R51"),
        atomic=members.need("atomic", "R51", False).flag("R51"),
        atomic_scope=cast(AtomicScope | None, members.optional("atomic_scope", lambda v: _scope(v), None)),
        modes=members.optional("modes", lambda v: _texts(v, "N1"), ()),
        dtype_policy=cast(
            DtypePolicy,
            members.optional("dtype_policy", lambda v: v.word("N36", DtypePolicy, "exact"), "exact"),
        ),
        mesh_dims=members.optional("mesh_dims", _mesh, None),
    )
    members.done()
    return checkpoint


def _scope(value: Value) -> str | None:
    return None if value.raw is None else value.word("N25", AtomicScope, "instance")


def _hyperparameters(value: Value) -> dict[str, int | None]:
    powers: dict[str, int | None] = {}
    for name, entry in value.entries("N2").items():
        why = why_no_name(name)
        if why:
            entry.broken("N1", why)
        members = Members(entry, "N2")
        powers[name] = members.optional("scale_power", _power, None)
        members.done()
    return powers


def _capabilities(value: Value) -> frozenset[str]:
    members = Members(value, "R53")
    flags = {name: members.optional(name, lambda v: v.flag("R53"), False) for name in CAPABILITIES}
    members.done()
    return frozenset(name for name, is_set in flags.items() if is_set)


def _precisions(value: Value) -> tuple[Precision, ...]:
    return cast(tuple[Precision, ...], _words(value, "R53", Precision, "float32"))


def _children(value: Value) -> tuple[Child, ...]:
    return tuple(map(_child, value.items("R54")))


def _child(value: Value) -> Child:
    members = Members(value, "R54")
    child = Child(
        role=members.need("role", "R54", UNREAD).text("R54"),
        implementation=members.need("implementation", "R54", UNREAD).text("R54"),
        contract=members.optional("contract", lambda v: None if v.raw is None else decode_contract(v), None),
    )
    members.done()
    return child


def _equations(value: Value) -> tuple[ScaleEquation, ...]:
    equations: list[ScaleEquation] = []
    for entry in value.items("N34", MOST_EQUATIONS):
        members = Members(entry, "N34")
        terms = members.need("terms", "N34", {}).entries("N34", MOST_EQUATIONS)
        equations.append(
            ScaleEquation(
                name=members.need("name", "N34", UNREAD).text("N34"),
                terms={symbol: coefficient.integer("N34") for symbol, coefficient in terms.items()},
            )
        )
        members.done()
    return tuple(equations)
