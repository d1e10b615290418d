"""What a variant is for: numbers of dimensions, which may be all but a few, and fields."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from verifier.contracts.document import Contract, Variant
from verifier.contracts.reading import MOST_DIMENSIONS

USUAL = 5
"""Parameters have fewer dimensions than that, where nothing else is said of them."""


@dataclass(frozen=True, slots=True)
class Dimensions:
    """Numbers of dimensions: those of ``only``, or all where it is None, but none of ``without``."""

    only: Set[int] | None
    without: Set[int]

    def __contains__(self, number: int) -> bool:
        return number not in self.without and (self.only is None or number in self.only)

    def meets(self, other: Dimensions) -> bool:
        """Whether some number is in both; of all but a few there is always one more."""
        listed = self.only if self.only is not None else other.only
        return listed is None or any(number in self and number in other for number in listed)

    def least_below(self, bound: int) -> int | None:
        """The smallest number below ``bound``."""
        if self.only is not None:
            return min((number for number in self.only if number < bound and number in self), default=None)
        return next((number for number in range(bound) if number in self), None)

    def examples(self) -> list[int]:
        """The listed numbers that a tensor can have; where all but a few are meant, the usual ones."""
        listed = self.only if self.only is not None else range(USUAL)
        return sorted(number for number in listed if number <= MOST_DIMENSIONS and number in self)


def dimensions_of(variant: Variant, contract: Contract) -> Dimensions:
    """What a variant is for, within what the contract supports."""
    listed = [set(ranks) for ranks in (variant.ranks, contract.ranks) if ranks is not None]
    only = set.intersection(*listed) if listed else None
    return Dimensions(only, set(variant.exclude_ranks))


def variants_by_field(contract: Contract) -> dict[str, list[Variant]]:
    """The variants that list a field, by its name."""
    found: dict[str, list[Variant]] = {}
    for variant in contract.variants:
        for name in dict.fromkeys(variant.fields):
            found.setdefault(name, []).append(variant)
    return found
