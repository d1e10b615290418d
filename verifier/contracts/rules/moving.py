"""Rule N24: state that may be cut anew has a geometry from which the new cut follows. Theory: T26."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from verifier.contracts.broken import Broken
from verifier.contracts.document import Checkpoint, Child, Contract, Layout, StateField
from verifier.contracts.geometry import RunTimeSize
from verifier.contracts.rules.dimensions import Dimensions, dimensions_of


class _Obstacle(NamedTuple):
    """Why a field does not move; ``partly`` where it does for some cuts of the layout."""

    words: str
    partly: bool = False


def changing_state_has_a_map(contract: Contract) -> Iterator[Broken]:
    """N24: whatever state changes its cut has a geometry from which the new cut follows.

    State whose map exists for some dimensions that can be cut, and for others cannot, is remarked upon: a
    claim does not say which dimension it is about. Whether a cut goes through a block is asked of each cut.
    """
    layouts = {layout for claim in contract.checkpoints for layout in claim.changing}
    obstacles = {layout: [*dict.fromkeys(_obstacles(contract, layout))] for layout in layouts}
    for position, claim in enumerate(contract.checkpoints):
        at = f"/checkpoints/{position}/changing"
        for layout in claim.changing:
            for name, obstacle in obstacles[layout]:
                yield Broken(
                    at, "N24", f"{layout} may change, but {name} {obstacle.words}", remark=obstacle.partly
                )
            for child in contract.children:
                yield from _of_child(at, claim, layout, child)


def _of_child(at: str, claim: Checkpoint, layout: Layout, child: Child) -> Iterator[Broken]:
    """What a composite moves is the state of its children: each moves it, or lets it be moved.

    A composite transport calls the children's own; a canonical one takes their state from them. A child
    without a contract trains replicated parameters (R59), of whose state nothing is known.
    """
    theirs = child.contract
    if theirs is None:
        if layout == "replicated":
            yield Broken(
                at, "N24", f"{layout} may change, but the state of the child {child.role!r} is unknown"
            )
        return
    if layout not in {trained.layout for trained in theirs.training}:
        return
    if claim.transport == "composite":
        if not any(_claims(own, layout, claim) for own in theirs.checkpoints):
            words = f"{layout} may change, but the child {child.role!r} does not claim it"
            yield Broken(at, "N24", words)
        return
    for name, obstacle in dict.fromkeys(_obstacles(theirs, layout)):
        words = f"{layout} may change, but {name} of the child {child.role!r} {obstacle.words}"
        yield Broken(at, "N24", words, remark=obstacle.partly)
    for grandchild in theirs.children:
        yield from _of_child(at, claim, layout, grandchild)


def _claims(own: Checkpoint, layout: Layout, claim: Checkpoint) -> bool:
    """Whether a claim of a child is what its composite claims of a layout."""
    return layout in own.changing and {*claim.changes} <= {*own.changes}


def _obstacles(contract: Contract, layout: Layout) -> Iterator[tuple[str, _Obstacle]]:
    """The fields of a contract that do not move with parameters of a layout."""
    declared = {field.name: field for field in contract.fields}
    for common in contract.fields:
        if common.scope == "common" and common.checkpointed and not _is_for_everybody(common):
            yield repr(common.name), _Obstacle("is common and each rank's own: nothing says whose it becomes")
    for variant in contract.variants:
        if layout not in variant.layouts or not variant.initialized:
            continue
        dimensions = dimensions_of(variant, contract)
        for name in variant.fields:
            field = declared.get(name)
            if field is None or not field.checkpointed or name in variant.inactive:
                continue
            found = _without_any_map(field) or _under_cuts(field, layout, dimensions)
            if found is not None:
                yield repr(name), found


def _is_for_everybody(field: StateField) -> bool:
    """Whether state that is common to all parameters can be given to whatever ranks there are."""
    if field.distribution == "none":
        return False
    return field.geometry.kind != "opaque" or field.distribution != "follow"


def _without_any_map(field: StateField) -> _Obstacle | None:
    """What does not move whatever the cuts are."""
    geometry = field.geometry
    if geometry.kind == "opaque":
        return _Obstacle("is opaque")
    if field.distribution == "none":
        return _Obstacle("has the distribution none: nothing says who has which part")
    if geometry.kind == "block" and geometry.domain == "shard":
        return _Obstacle("has blocks that begin anew in each shard")
    if geometry.kind == "block" and isinstance(geometry.size, RunTimeSize):
        return _Obstacle("has a block size that only a run knows")
    return None


def _under_cuts(field: StateField, layout: Layout, dimensions: Dimensions) -> _Obstacle | None:
    """What a cut of the layout makes of state for which several elements are put together."""
    kind, axis = field.geometry.kind, field.geometry.axis
    if kind == "factor" and layout == "flat_shard":
        return _Obstacle("is a factor, whose elements flat shards separate")
    if kind not in ("row", "column", "factor") or layout != "dim_shard":
        return None
    counts = [count for count in dimensions.examples() if count >= (1 if kind == "factor" else 2)]
    for count in counts:
        missing = _shared(field, count) - _reduced(field, count)
        if missing:
            return _Obstacle(
                f"has no map where dimension {min(missing)} of {count} is cut: "
                "no reduction over this axis is declared"
            )
    if kind == "factor" and axis is not None:
        words = f"is a factor of axis {axis}, which has no map where dimension {axis} is cut"
        return _Obstacle(words, partly=any(count > 1 for count in counts))
    return None


def _shared(field: StateField, count: int) -> set[int]:
    """The dimensions whose cut makes members share elements of the field, which they can put together."""
    match field.geometry.kind:
        case "row":
            return {count - 1}
        case "column":
            return {count - 2}
        case _:
            return set(range(count)) - {field.geometry.axis}


def _reduced(field: StateField, count: int) -> set[int]:
    """The axes of a parameter with ``count`` dimensions over which the field is reduced."""
    axes = () if field.reduction is None else field.reduction.axes
    return {axis % count for axis in axes if -count <= axis < count}


RULES = (changing_state_has_a_map,)
