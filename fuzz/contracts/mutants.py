"""One defect of a contract or a cut at a time, with the rules one of which it breaks for certain."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Change = Callable[[random.Random, dict[str, Any]], bool]
"""Changes the document in place; False where it has nothing to change."""


@dataclass(frozen=True, slots=True)
class ContractMutant:
    """A labelled defect.

    Attributes:
        change: makes it.
        rules: of which a document with the defect breaks at least one, be it only remarked upon.
    """

    name: str
    change: Change
    rules: frozenset[str]

    def __call__(self, rng: random.Random, document: dict[str, Any]) -> dict[str, Any] | None:
        """The document with the defect; None where it cannot have it."""
        made = copy.deepcopy(document)
        return made if self.change(rng, made) else None


def _set(listed: str, key: str, *values: Any) -> Change:
    """Another value of a member of one entry of a list."""

    def change(rng: random.Random, document: dict[str, Any]) -> bool:
        if not document[listed]:
            return False
        rng.choice(document[listed])[key] = copy.deepcopy(rng.choice(values))
        return True

    return change


def _put(key: str, *values: Any) -> Change:
    """Another value of a member of the document."""

    def change(rng: random.Random, document: dict[str, Any]) -> bool:
        document[key] = copy.deepcopy(rng.choice(values))
        return True

    return change


def _drop(listed: str) -> Change:
    """One required member of one entry is not there."""

    def change(rng: random.Random, document: dict[str, Any]) -> bool:
        required = {
            "fields": ("name", "scope", "geometry", "dtype", "checkpointed"),
            "variants": ("name", "layouts"),
        }
        if not document[listed]:
            return False
        del rng.choice(document[listed])[rng.choice(required[listed])]
        return True

    return change


def _twin(rng: random.Random, document: dict[str, Any]) -> bool:
    live = document["variants"][0]
    document["variants"].append({**live, "name": "twin"})
    return True


def _undeclared(rng: random.Random, document: dict[str, Any]) -> bool:
    rng.choice(document["variants"])["fields"] = ["nobody"]
    return True


def _same_name(rng: random.Random, document: dict[str, Any]) -> bool:
    document["fields"].append(copy.deepcopy(rng.choice(document["fields"])))
    return True


def _scalar_follows(rng: random.Random, document: dict[str, Any]) -> bool:
    field = rng.choice(document["fields"])
    field["geometry"], field["distribution"] = {"kind": "scalar"}, "follow"
    return True


def _prefix(rng: random.Random, document: dict[str, Any]) -> bool:
    field = rng.choice(document["fields"])
    document["fields"].append({**field, "name": field["name"][:2], "key_match": "prefix"})
    return True


def _power(rng: random.Random, document: dict[str, Any]) -> bool:
    if "scale_equations" not in document:
        return False
    field = rng.choice(document["fields"])
    field["scale_power"] += rng.choice((-1, 1))
    return True


def _change_without_kind(rng: random.Random, document: dict[str, Any]) -> bool:
    claim = rng.choice(document["checkpoints"])
    claim["changes"] = [] if claim["changes"] else ["placement_reshard"]
    return True


def _odd_group(rng: random.Random, document: dict[str, Any]) -> bool:
    claim = rng.choice(document["checkpoints"])
    claim["group"] = "none" if claim["collective"] else "world"
    return True


def _canonical(rng: random.Random, document: dict[str, Any]) -> bool:
    flags = document.setdefault("capabilities", {})
    flags["canonical_state_io"] = not flags.get("canonical_state_io", False)
    return True


def _shard(rng: random.Random, cut: dict[str, Any]) -> dict[str, Any] | None:
    shards: list[dict[str, Any]] = cut["shards"]
    held = [shard for shard in shards if shard.get("length", 1) and all(shard.get("lengths", [1]))]
    return rng.choice(held) if held else None


def _longer(rng: random.Random, cut: dict[str, Any]) -> bool:
    shard = _shard(rng, cut)
    if shard is None:
        return False
    if "lengths" in shard:
        shard["lengths"][cut["dim"]] += 1
    else:
        shard["length"] += 1
    return True


def _moved(rng: random.Random, cut: dict[str, Any]) -> bool:
    shard = _shard(rng, cut)
    if shard is None:
        return False
    if "offsets" in shard:
        shard["offsets"][cut["dim"]] += 1
    else:
        shard["offset"] += 1
    return True


def _missing(rng: random.Random, cut: dict[str, Any]) -> bool:
    cut["shards"].pop(rng.randrange(len(cut["shards"])))
    return True


def _twice(rng: random.Random, cut: dict[str, Any]) -> bool:
    cut["shards"].append(copy.deepcopy(rng.choice(cut["shards"])))
    return True


def _member(rng: random.Random, cut: dict[str, Any]) -> bool:
    members = cut["group"]["members"]
    members.append(rng.choice(members))
    return True


def _mutant(name: str, change: Change, rules: str) -> ContractMutant:
    return ContractMutant(name, change, frozenset(rules.split()))


NO_FLAG: tuple[object, ...] = ("false", "true", 0, 1, None, [])
CONTRACT_MUTANTS: dict[str, ContractMutant] = {
    mutant.name: mutant
    for mutant in (
        _mutant("no-flag-of-a-field", _set("fields", "checkpointed", *NO_FLAG), "R39"),
        _mutant("no-flag-of-a-variant", _set("variants", "initialized", *NO_FLAG), "R44"),
        _mutant("no-flag-of-training", _set("training", "post_sync", *NO_FLAG), "R50"),
        _mutant("no-flag-of-a-checkpoint", _set("checkpoints", "collective", *NO_FLAG), "R51"),
        _mutant("no-version", _put("schema_version", True, 1.0, 0, 2, "1"), "R55"),
        _mutant("no-list", _put("fields", {}, "fields", None, 3), "N2"),
        _mutant("no-capabilities", _put("capabilities", None, [], {"foreach": "yes"}), "R53"),
        _mutant("text-for-list", _set("variants", "layouts", "replicated", ["none"]), "N1 R43"),
        _mutant("no-name", _set("fields", "name", 7, "", " m "), "R37"),
        _mutant("no-scope", _set("fields", "scope", "global", None), "R38"),
        _mutant("unknown-member", _set("fields", "note", 0), "N3"),
        _mutant("missing-member-of-a-field", _drop("fields"), "N2 R37 R38 R39"),
        _mutant("missing-member-of-a-variant", _drop("variants"), "R43"),
        _mutant("twin", _twin, "N5 N7"),
        _mutant("undeclared-field", _undeclared, "R48"),
        _mutant("same-name", _same_name, "R47"),
        _mutant("scalar-follows", _scalar_follows, "N13"),
        _mutant("prefix", _prefix, "N4"),
        _mutant("unsaved", _set("fields", "checkpointed", False), "N15"),
        _mutant("required-optional", _set("fields", "optional", True), "N16"),
        _mutant(
            "no-block-size",
            _set("fields", "geometry", {"kind": "block"}, {"kind": "block", "size": 0}),
            "N12",
        ),
        _mutant("no-training", _put("training", []), "N18"),
        _mutant("no-precision", _put("precisions", []), "N18"),
        _mutant("no-variant", _put("variants", []), "N6"),
        _mutant("wrong-power", _power, "N34"),
        _mutant("change-without-kind", _change_without_kind, "R52"),
        _mutant("claim-of-nothing", _set("checkpoints", "same", []), "N21 N22"),
        _mutant("group-without-collective", _odd_group, "N20"),
        _mutant("canonical-flag", _canonical, "N26"),
    )
}
"""Every defect of a contract by name."""

CUT_MUTANTS: dict[str, ContractMutant] = {
    mutant.name: mutant
    for mutant in (
        _mutant("longer", _longer, "R12 R17 R32 R36"),
        _mutant("moved", _moved, "R12 R17 R32 R36"),
        _mutant("missing", _missing, "R27 R30"),
        _mutant("twice", _twice, "R30"),
        _mutant("member-twice", _member, "R5"),
        _mutant(
            "no-shape", _put("parameter", {"fqn": "w", "shape": "48"}, {"fqn": "w", "shape": [True]}), "R3"
        ),
        _mutant("unordered-shape", _put("parameter", {"fqn": "w", "shape": {"4": 0}}), "N32"),
        _mutant("no-layout", _put("layout", "flat", None, 0), "R14"),
        _mutant("no-dimension", _put("dim", -1, True, "0", 7), "R9 R22"),
        _mutant("owner-without-owners", _set("shards", "owner", "rank:0"), "R20"),
        _mutant("foreign-member", _set("shards", "member", "nobody", ""), "R1 R19"),
        _mutant("box-and-interval", _set("shards", "offsets", [0] * 9, "0"), "R11 R12 R15 N3"),
    )
}
"""Every defect of a cut by name."""
