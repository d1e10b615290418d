"""Rules about checkpoints: R51 and R52, N17, N19 and N20 in part, N21 to N23, N25, N26."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verifier.contracts.broken import Broken
from verifier.contracts.document import Checkpoint, Contract
from verifier.contracts.reading import UNREAD, repeated


def _at(position: int, *keys: str) -> str:
    return "".join(["/checkpoints", f"/{position}", *[f"/{key}" for key in keys]])


def changes_are_named(contract: Contract) -> Iterator[Broken]:
    """R52: layouts may change exactly where a kind of change is named."""
    for position, claim in enumerate(contract.checkpoints):
        if bool(claim.changing) != bool(claim.changes):
            what = "no kind of change is named" if claim.changing else "no layout may change"
            yield Broken(_at(position, "changes"), "R52", f"one side only: {what}")


def collectives_have_a_group(contract: Contract) -> Iterator[Broken]:
    """N20: a checkpoint that needs a collective has a group, and one with a group is collective."""
    for position, claim in enumerate(contract.checkpoints):
        if claim.collective and claim.group == "none":
            yield Broken(_at(position, "group"), "N20", "a collective among nobody: the group is none")
        if claim.group != "none" and not claim.collective:
            yield Broken(
                _at(position, "collective"), "N20", f"a group of {claim.group}, and nothing is collective"
            )


def layouts_are_trained(contract: Contract) -> Iterator[Broken]:
    """N21: what is saved is trained, and what may change is saved."""
    trained = {claim.layout for claim in contract.training}
    for position, claim in enumerate(contract.checkpoints):
        untrained = [layout for layout in claim.same if layout not in trained]
        if untrained and contract.training:
            yield Broken(_at(position, "same"), "N21", f"{untrained[0]} is saved and never trained")
        unsaved = [layout for layout in claim.changing if layout not in claim.same]
        if unsaved:
            yield Broken(
                _at(position, "changing"), "N21", f"{unsaved[0]} may change and is not saved as it is"
            )


def a_claim_claims_something(contract: Contract) -> Iterator[Broken]:
    """N22: some layout is saved."""
    for position, claim in enumerate(contract.checkpoints):
        if not claim.same and not claim.changing:
            yield Broken(_at(position), "N22", "no layout is saved")


def transports_do_what_they_say(contract: Contract) -> Iterator[Broken]:
    """N23: local is no change and no collective, global is collective and atomic, composite has children.

    What a composite saves is that of its children: it has a composite transport, or a canonical one.
    """
    for position, claim in enumerate(contract.checkpoints):
        at = _at(position, "transport")
        match claim.transport:
            case "canonical_local" if claim.changing or claim.collective:
                yield Broken(at, "N23", "canonical_local neither changes a layout nor is it collective")
            case "canonical_global" if not (claim.collective and claim.atomic):
                yield Broken(at, "N23", "canonical_global is collective and atomic")
            case "composite" if not contract.children:
                yield Broken(at, "N23", "composite transport of an optimizer without children")
        if claim.changing and claim.transport != "canonical_local" and not claim.collective:
            yield Broken(
                _at(position, "collective"), "N23", "state changes ranks, and no collective moves it"
            )
        moved = "owner_redistribution" in claim.changes and "whole_owner" not in claim.changing
        if moved:
            yield Broken(
                _at(position, "changes"), "N23", "owners are moved, and no layout with owners changes"
            )

    saved = {claim.transport for claim in contract.checkpoints}
    if contract.children and saved and not saved & {"composite", "canonical_local", "canonical_global"}:
        yield Broken("/checkpoints", "N23", "an optimizer with children, and no transport that knows them")


def atomic_has_a_scope(contract: Contract) -> Iterator[Broken]:
    """N25: atomic for whom is stated of what is, and a composite is so only where all its children are."""
    for position, claim in enumerate(contract.checkpoints):
        if claim.atomic and claim.atomic_scope is None:
            yield Broken(_at(position), "N25", "atomic for one instance or for the group is not stated")
        if not claim.atomic and claim.atomic_scope is not None:
            words = f"atomic for the {claim.atomic_scope}, and nothing is atomic"
            yield Broken(_at(position, "atomic_scope"), "N25", words)
        if claim.atomic and contract.children and claim.transport == "composite":
            weak = [child.role for child in contract.children if not _is_atomic(child.contract)]
            if weak:
                yield Broken(_at(position, "atomic"), "N25", f"the child {weak[0]!r} is not atomic")


def _is_atomic(contract: Contract | None) -> bool:
    return contract is not None and any(claim.atomic for claim in contract.checkpoints)


def canonical_io_is_said(contract: Contract) -> Iterator[Broken]:
    """N26, which is R60: the capability is declared exactly where a canonical transport is."""
    canonical = any(claim.transport.startswith("canonical") for claim in contract.checkpoints)
    if canonical != ("canonical_state_io" in contract.capabilities):
        what = "no transport is canonical" if not canonical else "a transport is canonical"
        yield Broken("/capabilities/canonical_state_io", "N26", f"the flag contradicts the claims: {what}")


def modes_are_trained(contract: Contract) -> Iterator[Broken]:
    """N17: state is saved in modes that are trained."""
    trained = {claim.mode for claim in contract.training}
    for position, claim in enumerate(contract.checkpoints):
        for mode in claim.modes:
            if mode not in trained:
                yield Broken(_at(position, "modes"), "N17", f"nobody trains in mode {mode!r}")


def claims_are_made_once(contract: Contract) -> Iterator[Broken]:
    """R51: a transport is claimed once for the same layouts, and nothing is listed twice in a claim."""
    for position, key in repeated(map(_key, contract.checkpoints)):
        yield Broken(_at(position), "R51", f"{key[0]} is claimed twice for the same layouts")
    for position, claim in enumerate(contract.checkpoints):
        listed: Mapping[str, Sequence[str]] = {
            "same": claim.same,
            "changing": claim.changing,
            "changes": claim.changes,
            "modes": claim.modes,
        }
        for member, words in listed.items():
            for _, word in repeated(words):
                if word != UNREAD:
                    yield Broken(_at(position, member), "R51", f"{word} is listed twice")


def meshes_belong_to_dimension_shards(contract: Contract) -> Iterator[Broken]:
    """N19: only a claim that saves dimension shards has meshes, of one axis each as in training."""
    for position, claim in enumerate(contract.checkpoints):
        if claim.mesh_dims and "dim_shard" not in claim.same:
            yield Broken(_at(position, "mesh_dims"), "N19", "meshes, and no dimension shards are saved")
            continue
        for axes in claim.mesh_dims or ():
            if axes != 1:
                words = f"a mesh of {axes} axes, of which one cuts a dimension"
                yield Broken(_at(position, "mesh_dims"), "N19", words)


def _key(claim: Checkpoint) -> tuple[object, ...]:
    """What tells claims apart; the order of layouts does not."""
    return (
        claim.transport,
        frozenset(claim.same),
        frozenset(claim.changing),
        frozenset(claim.modes),
        claim.group,
    )


RULES = (
    changes_are_named,
    collectives_have_a_group,
    layouts_are_trained,
    a_claim_claims_something,
    transports_do_what_they_say,
    atomic_has_a_scope,
    canonical_io_is_said,
    modes_are_trained,
    claims_are_made_once,
    meshes_belong_to_dimension_shards,
)
