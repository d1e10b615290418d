"""What a certificate over all sizes claims, decided at given sizes by listing every address.

Shares nothing with the checker: products are multiplied out in numbers, and the map is judged by
``enumeration``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from tests.certificates.enumeration import addresses, is_right

Json = Any
Sizes = Mapping[str, int]


def value(number: Json, sizes: Sizes) -> int:
    if isinstance(number, int):
        return number
    return sum(f * prod(sizes[one] for one in name.split("*") if one) for name, f in number.items())


def leaf_of(document: Json, sizes: Sizes) -> tuple[Json, Sizes]:
    """The leaf that sizes lead to, and all numbers that have a name there."""
    node, known = document["tree"], dict(sizes)
    while True:
        if "if" in node:
            relation, number = node["if"]
            found = value(number, known)
            node = node["then" if (found >= 0 if relation == ">=" else found == 0) else "else"]
        elif "divide" in node:
            quotient, remainder = divmod(value(node["divide"], known), node["by"])
            known |= {node["quotient"]: quotient, node["remainder"]: remainder}
            node = node["in"]
        else:
            return node, known


def concrete(symbolic: Json, sizes: Sizes) -> Json:
    """The map of a leaf in numbers, in the form of certificates of maps."""

    def numbers(values: Json) -> list[int]:
        return [value(one, sizes) for one in values]

    def view(pair: Json) -> list[Json]:
        return [value(pair[0], sizes), numbers(pair[1])]

    return {
        "logical_shape": numbers(symbolic["logical_shape"]),
        "ranks": {
            rank: {
                "shard_shape": numbers(shard["shard_shape"]),
                "pieces": [
                    {**one, "shape": numbers(one["shape"])}
                    | {side: view(one[side]) for side in ("source", "dest")}
                    for one in shard["pieces"]
                ],
            }
            for rank, shard in symbolic["ranks"].items()
        },
    }


def is_true_at(document: Json, sizes: Sizes) -> bool:
    """The claim about these sizes: nothing where no map is made, and no sizes where there are to be none."""
    leaf, known = leaf_of(document, sizes)
    if "map" not in leaf:
        return leaf["end"] != "nothing"
    made, expectation = concrete(leaf["map"], known), {}
    for rank, shard in leaf["map"]["ranks"].items():
        cells = []
        for shape, (offset, strides) in shard["padding"]:
            extents = [value(one, known) for one in shape]
            if min(extents, default=0) < 0:
                return False
            cells += addresses(extents, (value(offset, known), [value(one, known) for one in strides]))
        written = [
            cell
            for one in made["ranks"][rank]["pieces"]
            if 0 not in one["shape"]
            for cell in addresses(one["shape"], one["dest"])
        ]
        size = prod(made["ranks"][rank]["shard_shape"])
        if len({*cells}) < len(cells) or {*cells} & {*written} or not {*cells} <= set(range(size)):
            return False
        expectation.setdefault("holes", {})[rank] = cells
    if "reference" in leaf:
        expectation["reference"] = concrete(leaf["reference"], known)
    return is_right({"map": made, "expectation": expectation})


def small_sizes(document: Json, most: int) -> Iterator[Sizes]:
    """All sizes from their least to ``most`` more."""
    names = document["sizes"]
    for more in product(range(most + 1), repeat=len(names)):
        yield {name: least + k for (name, least), k in zip(names.items(), more, strict=True)}
