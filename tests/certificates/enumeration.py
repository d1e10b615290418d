"""What a certificate claims, decided by listing every address. Shares nothing with the checker."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import prod


def is_right(document):
    """True when the map of a certificate meets its expectation; the evidence is not looked at."""
    shard_map, expected = document["map"], document["expectation"]
    if not (is_well_formed(shard_map) and is_well_formed(expected.get("reference", shard_map))):
        return False
    sizes = [prod(shard["shard_shape"]) for shard in shard_map["ranks"].values()]
    if max([prod(shard_map["logical_shape"]), *sizes]) >= 2**63:
        return False
    return (
        expectation_is_well_formed(expected)
        and pieces_are_right(shard_map)
        and all(p["scale"] == Fraction(expected.get("scale", p["scale"])) for p in pieces(shard_map))
        and addresses_fit(shard_map, expected.get("index_bits", 64))
        and shards_are_full(shard_map, expected)
        and (expected.get("lookup", False) or holders_are_right(shard_map, expected))
        and ("reference" not in expected or same_function(shard_map, expected["reference"]))
        and ("write_unit" not in expected or units_are_whole(shard_map, expected["write_unit"]))
    )


def addresses(shape, view):
    offset, strides = view
    steps = product(*(range(n) for n in shape))
    return [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in steps]


def pieces(shard_map):
    """The pieces with elements, each with its rank and the addresses of both sides."""
    for rank, shard in shard_map["ranks"].items():
        for piece in shard["pieces"]:
            if 0 not in piece["shape"]:
                yield {
                    "rank": int(rank),
                    "size": prod(shard["shard_shape"]),
                    "source": addresses(piece["shape"], piece["source"]),
                    "dest": addresses(piece["shape"], piece["dest"]),
                    "locations": tuple(piece["locations"]),
                    "scale": Fraction(piece.get("scale", 1)),
                }


def is_well_formed(shard_map):
    shapes = [shard_map["logical_shape"], *(shard["shard_shape"] for shard in shard_map["ranks"].values())]
    listed = [piece for shard in shard_map["ranks"].values() for piece in shard["pieces"]]
    return all(n >= 0 for shape in shapes for n in shape) and all(
        len(p["shape"]) == len(p["source"][1]) == len(p["dest"][1])
        and all(n >= 0 for n in (*p["shape"], *p["locations"]))
        and p["locations"] == sorted(set(p["locations"]))
        for p in listed
    )


def expectation_is_well_formed(expected):
    """Declared cells that do not exist waive nothing and do no harm."""
    holes = expected.get("holes", {})
    return (
        all(cell >= 0 for cells in holes.values() for cell in cells)
        and all(gap >= 0 for gap in expected.get("gaps", []))
        and expected.get("sum_ulps", 4) >= 0
        and expected.get("index_bits", 64) >= 2
        and expected.get("write_unit", 1) >= 1
        and not (expected.get("lookup") and (expected.get("partial") or "write_unit" in expected))
    )


def pieces_are_right(shard_map):
    """Every piece stays inside, steps forwards, and has a scale with an inverse."""
    for shard in shard_map["ranks"].values():
        for piece in shard["pieces"]:
            if 0 in piece["shape"]:
                continue
            for side in ("source", "dest"):
                offset, strides = piece[side]
                if any(not 0 <= number < 2**63 for number in (offset, *strides)):
                    return False
    numel = prod(shard_map["logical_shape"])
    return all(
        set(p["source"]) <= set(range(numel)) and set(p["dest"]) <= set(range(p["size"])) and p["scale"] != 0
        for p in pieces(shard_map)
    )


def addresses_fit(shard_map, index_bits):
    return all(max(p["source"] + p["dest"]) < 2 ** (index_bits - 1) for p in pieces(shard_map))


def shards_are_full(shard_map, expected):
    written = defaultdict(Counter)
    for p in pieces(shard_map):
        written[p["rank"]].update(p["dest"])
    for rank, shard in shard_map["ranks"].items():
        holes = set(expected.get("holes", {}).get(rank, []))
        for address in range(prod(shard["shard_shape"])):
            count = written[int(rank)][address]
            if count > 1 or (count == 0 and address not in holes):
                return False
    return True


def holders_are_right(shard_map, expected):
    """Element by element: who covers it, is that what every covering piece says, and at which scales."""
    known = {int(rank) for rank in shard_map["ranks"]}
    covers = defaultdict(list)
    by_group = defaultdict(set)
    for p in pieces(shard_map):
        if not set(p["locations"]) <= known:
            return False
        by_group[p["locations"]].add((p["rank"], p["scale"]))
        for element in p["source"]:
            covers[element].append((p["rank"], p["locations"], p["scale"]))
    for element in range(prod(shard_map["logical_shape"])):
        ranks = [rank for rank, _, _ in covers[element]]
        scales = {scale for _, _, scale in covers[element]}
        if not ranks and expected.get("cover", True) and element not in expected.get("gaps", []):
            return False
        if len(set(ranks)) < len(ranks) or any(set(ranks) != set(loc) for _, loc, _ in covers[element]):
            return False
        if not expected.get("partial") and len(scales) > 1:
            return False
    tolerance = Fraction(expected.get("sum_ulps", 4), 2**53)
    return not expected.get("partial") or all(
        len(held) == len(locations) and abs(sum(scale for _, scale in held) - 1) <= tolerance
        for locations, held in by_group.items()
    )


def same_function(here, there):
    frames = [
        (m["logical_shape"], {rank: shard["shard_shape"] for rank, shard in m["ranks"].items()})
        for m in (here, there)
    ]
    functions = [
        Counter(
            (p["rank"], p["scale"], s, d)
            for p in pieces(m)
            for s, d in zip(p["source"], p["dest"], strict=True)
        )
        for m in (here, there)
    ]
    return frames[0] == frames[1] and functions[0] == functions[1] and pieces_are_right(there)


def units_are_whole(shard_map, unit):
    numel = prod(shard_map["logical_shape"])
    held = defaultdict(set)
    for p in pieces(shard_map):
        held[p["rank"]].update(p["source"])
    blocks = [set(range(start, min(start + unit, numel))) for start in range(0, numel, unit)]
    return all(len(p["locations"]) == 1 for p in pieces(shard_map)) and all(
        block <= elements or not block & elements for elements in held.values() for block in blocks
    )
