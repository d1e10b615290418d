"""Rules about composites: R55 in part, R59, N28."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from verifier.contracts.broken import Broken
from verifier.contracts.document import Child, Contract
from verifier.contracts.reading import repeated


def roles_are_unique(contract: Contract) -> Iterator[Broken]:
    """R55: no two children have one role."""
    for position, role in repeated([child.role for child in contract.children]):
        yield Broken(f"/children/{position}/role", "R55", f"two children have the role {role!r}")


def children_are_who_they_say(contract: Contract) -> Iterator[Broken]:
    """N28: a child is what its contract is about, and its state has a namespace; others may be reserved."""
    for position, child in enumerate(contract.children):
        at = f"/children/{position}"
        if child.contract is not None and child.contract.implementation != child.implementation:
            yield Broken(
                f"{at}/implementation",
                "N28",
                f"{child.implementation!r} has a contract about {child.contract.implementation!r}",
            )
        if child.role not in contract.namespaces:
            yield Broken(f"{at}/role", "N28", f"there is no namespace for the child {child.role!r}")
    if contract.namespaces and not contract.children:
        yield Broken("/namespaces", "N28", "namespaces of an optimizer without children")


def training_is_that_of_the_children(contract: Contract) -> Iterator[Broken]:
    """R59: a composite trains what its children train; one without contract trains replicated parameters."""
    if not contract.children:
        return
    theirs = {claim for child in contract.children for claim in _trained(child)}
    modes = {claim.mode for child in contract.children if child.contract for claim in child.contract.training}
    for position, claim in enumerate(contract.training):
        own = _Trained(claim.layout, claim.group, claim.mode)
        if own in theirs:
            continue
        if claim.mode not in modes | {None}:
            words = f"no child trains in mode {claim.mode!r}"
        else:
            mode = "" if claim.mode is None else f" in mode {claim.mode!r}"
            words = f"no child trains {claim.layout} parameters with {claim.group} group{mode}"
        yield Broken(f"/training/{position}", "R59", words)


def precisions_are_those_of_the_children(contract: Contract) -> Iterator[Broken]:
    """R59: a composite trains in precisions of its children; those of one without contract are not known."""
    contracts = [child.contract for child in contract.children if child.contract is not None]
    if not contracts or len(contracts) != len(contract.children):
        return
    theirs = {precision for child in contracts for precision in child.precisions}
    for position, precision in enumerate(contract.precisions):
        if precision not in theirs:
            yield Broken(f"/precisions/{position}", "R59", f"no child trains in {precision}")


def what_children_train_is_claimed(contract: Contract) -> Iterator[Broken]:
    """N28: the claims of a composite are all of its children's; one that is not made is remarked upon."""
    own = {_Trained(claim.layout, claim.group, claim.mode) for claim in contract.training}
    for position, child in enumerate(contract.children):
        for claim in _trained(child) if child.contract is not None else ():
            if claim not in own:
                words = f"{child.role!r} trains {claim.layout} parameters with {claim.group} group"
                yield Broken(f"/children/{position}", "N28", f"{words}, unclaimed", remark=True)


class _Trained(NamedTuple):
    """What a training claim is about."""

    layout: str
    group: str
    mode: str | None


def _trained(child: Child) -> Iterator[_Trained]:
    if child.contract is None:
        yield _Trained("replicated", "none", None)
        return
    for claim in child.contract.training:
        yield _Trained(claim.layout, claim.group, claim.mode)


RULES = (
    roles_are_unique,
    children_are_who_they_say,
    training_is_that_of_the_children,
    precisions_are_those_of_the_children,
    what_children_train_is_claimed,
)
