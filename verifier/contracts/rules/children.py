"""Rules about composites: R55 in part, R59, N28."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract
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
    theirs = {("replicated", "none")}
    for child in contract.children:
        if child.contract is not None:
            theirs |= {(claim.layout, claim.group) for claim in child.contract.training}
    for position, claim in enumerate(contract.training):
        if (claim.layout, claim.group) not in theirs:
            yield Broken(
                f"/training/{position}",
                "R59",
                f"no child trains {claim.layout} parameters with {claim.group} group",
            )


RULES = (roles_are_unique, children_are_who_they_say, training_is_that_of_the_children)
