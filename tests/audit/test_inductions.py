"""State under the cuts of real maps, and whether it can move: what is not said of a field is not proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import columns, piece, replicated, shard_map
from tests.cli.command import ROOT, shardproof
from verifier.audit.check import Settings
from verifier.audit.inductions import cuts_of_maps, induced_report
from verifier.audit.moves import moved_report
from verifier.contracts.cases import check_document
from verifier.contracts.document import Contract
from verifier.model.shard_map import ShardMap

PATH = Path("map.json")
CUT = ["replicated", "flat_shard", "dim_shard"]


def field(name: str = "f", **members: Any) -> dict[str, Any]:
    return {
        "name": name,
        "scope": "parameter",
        "geometry": {"kind": "parameter"},
        "dtype": "float32",
        "checkpointed": True,
        "optional": False,
        "distribution": "follow",
    } | members


def variant(fields: list[str], layouts: list[str], **members: Any) -> dict[str, Any]:
    return {
        "name": "_".join([*fields, *layouts]),
        "fields": fields,
        "layouts": layouts,
        "extent": "local",
        "initialized": True,
    } | members


def contract(fields: list[dict[str, Any]], variants: list[dict[str, Any]]) -> Contract:
    """One that is read as it stands, whether or not its claims fit each other."""
    layouts = sorted({layout for one in variants for layout in one["layouts"]})
    groups = {"replicated": "none", "whole_owner": "world"}
    document = {
        "schema_version": 1,
        "implementation": "example.Any",
        "fields": fields,
        "variants": variants,
        "update": {"reads": "elementwise"},
        "training": [{"layout": one, "group": groups.get(one, "world")} for one in layouts],
        "checkpoints": [],
        "precisions": ["float32"],
    }
    made = check_document(document, "x").contract
    assert made is not None
    return made


def slices(name: str = "w", *, rows: bool = False) -> ShardMap:
    """A 4 x 4 parameter over two ranks, by rows or by columns."""
    found = rows_of(4, 4) if rows else columns(4, 2, 2)
    return ShardMap(name=name, logical_shape=found.logical_shape, ranks=found.ranks)


def rows_of(rows: int, row: int, shape: tuple[int, ...] | None = None) -> ShardMap:
    """Half of the rows on each of two ranks, as matrices or in another shape."""
    half = rows // 2 * row
    own = shape if shape is not None else (rows // 2, row)
    strides = (row, 1)[-len(own) :]
    return shard_map(
        (rows, row),
        {rank: (own, [piece(own, (rank * half, strides), (0, strides), (rank,))]) for rank in (0, 1)},
    )


def whole(name: str = "w", shape: tuple[int, ...] = (4, 4), ranks: int = 2) -> ShardMap:
    found = replicated(shape, ranks)
    return ShardMap(name=name, logical_shape=shape, ranks=found.ranks)


def moved(declared: Contract, here: list[ShardMap], there: list[ShardMap]) -> dict[str, tuple[str, str]]:
    """Verdict and reason or note by subject."""
    report = moved_report(declared, cuts_of_maps(here), cuts_of_maps(there), PATH)
    return {
        one.name: (one.verdict, one.findings[0].concise if one.findings else one.notes[0])
        for one in report.subjects
    }


def induced(declared: Contract, *maps: ShardMap) -> dict[str, tuple[str, str]]:
    report = induced_report(declared, cuts_of_maps(maps), PATH, Settings())
    return {
        one.name: (one.verdict, one.findings[0].concise if one.findings else one.notes[0])
        for one in report.subjects
    }


def test_a_field_that_only_one_cut_has_cannot_move() -> None:
    declared = contract(
        [field("a"), field("b")], [variant(["a", "b"], ["replicated"]), variant(["a"], ["dim_shard"])]
    )
    there = moved(declared, [whole()], [slices()])
    assert there["w: a"][0] == "proved"
    assert there["w: b"] == (
        "refuted",
        "b: the target has no place for it: no variant for that cut has the field (M1)",
    )
    back = moved(declared, [slices()], [whole()])
    assert "the first cut has none of it" in back["w: b"][1]


def test_what_is_not_saved_need_not_move() -> None:
    declared = contract(
        [field("a"), field("b", checkpointed=False, scope="derived")],
        [variant(["a", "b"], ["replicated"]), variant(["a"], ["dim_shard"])],
    )
    assert moved(declared, [whole()], [slices()]).keys() == {"w: a"}


@pytest.mark.parametrize("swap", [False, True])
def test_a_parameter_that_only_one_side_has_is_undecided(swap: bool) -> None:
    declared = contract([field()], [variant(["f"], CUT)])
    both, one = [whole("a"), whole("b")], [whole("a")]
    found = moved(declared, *((both, one) if swap else (one, both)))
    word = "target" if swap else "first cut"
    assert found == {
        "a: f": ("proved", "the cuts are the same: it stays where it is"),
        "b": ("undecided", f"b: the {word} has no such parameter"),
    }


@pytest.mark.parametrize("kind", ["opaque", "block"])
def test_between_equal_cuts_anything_stays_where_it_is(kind: str) -> None:
    geometry = {"kind": "opaque"} if kind == "opaque" else {"kind": "block", "size": 3, "domain": "shard"}
    declared = contract([field(geometry=geometry)], [variant(["f"], CUT)])
    assert moved(declared, [slices()], [slices()])["w: f"][0] == "proved"
    assert moved(declared, [slices()], [slices(rows=True)])["w: f"][0] == "refuted"


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"distribution": "replicate"}, "M5"),
        ({"distribution": "owner"}, "M1"),
        ({"distribution": "none"}, "M9"),
    ],
)
def test_a_distribution_that_does_not_follow_the_cut_is_no_slice(members: dict[str, Any], rule: str) -> None:
    declared = contract([field(**members)], [variant(["f"], CUT)])
    verdict, reason = induced(declared, slices())["w: f"]
    assert verdict == "refuted"
    assert reason.endswith(f"({rule})")
    assert induced(declared, whole())["w: f"][0] == "proved"


def test_state_of_global_extent_is_whole_on_every_member() -> None:
    declared = contract([field()], [variant(["f"], ["dim_shard"], extent="global")])
    assert induced(declared, slices())["w: f"] == ("proved", "equal on every member")


def test_a_reduction_over_an_axis_that_is_not_there_reduces_nothing() -> None:
    for axes, verdict in (([1], "proved"), ([-1], "proved"), ([3], "refuted"), ([-3], "refuted")):
        reduction = {"axes": axes, "op": "sum"}
        declared = contract([field(geometry={"kind": "row"}, reduction=reduction)], [variant(["f"], CUT)])
        assert induced(declared, slices())["w: f"][0] == verdict, axes


def test_a_factor_is_no_maximum() -> None:
    for op, verdict in (("sum", "proved"), ("max", "refuted")):
        reduction = {"axes": [1], "op": op}
        declared = contract(
            [field(geometry={"kind": "factor", "axis": 0}, reduction=reduction)], [variant(["f"], CUT)]
        )
        assert induced(declared, slices())["w: f"][0] == verdict


def test_variants_for_other_sizes_do_not_count() -> None:
    block = field("q", geometry={"kind": "block", "size": 16})
    large = variant(["q"], CUT, predicate={"id": "large", "min_numel": 17, "measured_on": "global"})
    small = variant(["f"], CUT, predicate={"id": "small", "below_numel": 17, "measured_on": "global"})
    assert induced(contract([block, field()], [large, small]), slices()).keys() == {"w: f"}
    verdict, reason = induced(contract([block], [large]), slices())["w"]
    assert verdict == "refuted"
    assert "dim_shard parameters with 2 dimensions and 16 elements" in reason


@pytest.mark.parametrize(
    ("layout", "shape"), [("flat_shard", (2, 4)), ("flat_shard", (8,)), ("dim_shard", (2, 4))]
)
def test_whole_rows_are_a_slice_and_an_interval(layout: str, shape: tuple[int, ...]) -> None:
    declared = contract([field()], [variant(["f"], [layout])])
    assert induced(declared, rows_of(4, 4, shape))["w: f"][0] == "proved"


@pytest.mark.parametrize("layout", ["replicated", "flat_shard", "dim_shard", "whole_owner"])
def test_one_rank_may_be_any_layout(layout: str) -> None:
    extent = "owner" if layout == "whole_owner" else "local"
    role = {"role": "owner"} if layout == "whole_owner" else {}
    declared = contract([field()], [variant(["f"], [layout], extent=extent, **role)])
    assert induced(declared, whole(ranks=1))["w: f"][0] == "proved"


def test_ranks_of_other_stages_hold_nothing() -> None:
    stages = whole()
    none = shard_map((4, 4), {0: ((0,), [])}).ranks[0]
    both = ShardMap(name="w", logical_shape=(4, 4), ranks={**stages.ranks, 2: none, 3: none})
    declared = contract([field()], [variant(["f"], ["replicated"])])
    assert induced(declared, both)["w: f"] == ("proved", "equal on every member")


def test_a_cut_of_two_dimensions_is_followed_by_state_like_the_parameter() -> None:
    quarters = shard_map(
        (4, 4),
        {
            rank: (
                (2, 2),
                [piece((2, 2), (rank // 2 * 8 + rank % 2 * 2, (4, 1)), (0, (2, 1)), (rank,))],
            )
            for rank in range(4)
        },
    )
    step = field("step", geometry={"kind": "scalar"}, distribution="replicate")
    rows = field("rows", geometry={"kind": "row"})
    declared = contract([field(), step, rows], [variant(["f", "step", "rows"], CUT)])
    found = induced(declared, quarters)
    assert found["w: f"] == ("proved", "cut like its parameter")
    assert found["w: step"] == ("proved", "equal on every member")
    assert found["w: rows"][0] == "undecided"
    there = moved(declared, [quarters], [whole()])
    assert [there[name][0] for name in ("w: f", "w: step", "w: rows")] == ["proved", "proved", "undecided"]
    wrong = ShardMap(name="w", logical_shape=(4, 4), ranks={0: quarters.ranks[0], 1: quarters.ranks[1]})
    assert induced(declared, wrong)["w: f"][0] == "refuted"
    assert moved(declared, [wrong], [whole()])["w"][0] == "undecided"


def test_state_that_is_made_from_nothing_is_with_everybody() -> None:
    empty = shard_map((3, 0), {0: ((0,), []), 1: ((0,), [])})
    declared = contract([field(geometry={"kind": "row"})], [variant(["f"], CUT)])
    assert induced(declared, empty)["w: f"] == ("proved", "equal on every member")


@pytest.mark.parametrize("kind", ["block", "packed"])
def test_blocks_of_a_row_need_a_dimension(kind: str) -> None:
    size = {"size": 2} if kind == "block" else {"per": 2}
    declared = contract([field(geometry={"kind": kind, "domain": "row"} | size)], [variant(["f"], CUT)])
    verdict, reason = induced(declared, whole(shape=()))["w: f"]
    assert (verdict, "0 dimensions (M3)" in reason) == ("refuted", True)
    assert induced(declared, slices())["w: f"] == ("proved", "every block is whole on one member")


def test_state_of_the_whole_optimizer_is_spoken_of() -> None:
    for members, verdict in (
        ({"geometry": {"kind": "opaque"}}, "undecided"),
        ({"geometry": {"kind": "parameter"}}, "undecided"),
        ({"geometry": {"kind": "opaque"}, "distribution": "replicate"}, "proved"),
        ({"geometry": {"kind": "scalar"}, "distribution": "replicate"}, "proved"),
    ):
        common = field("c", scope="common", **members)
        declared = contract([field(), common], [variant(["f"], CUT)])
        assert induced(declared, slices())["optimizer: c"][0] == verdict
        assert moved(declared, [slices()], [whole()])["optimizer: c"][0] == verdict


def test_several_cuts_stand_in_one_document(tmp_path: Path) -> None:
    group = {"name": "dp", "members": ["a", "b"]}

    def cut(name: str, first: int) -> dict[str, Any]:
        return {
            "parameter": {"fqn": name, "shape": [8]},
            "layout": "flat_shard",
            "group": group,
            "shards": [
                {"member": "a", "offset": 0, "length": first},
                {"member": "b", "offset": first, "length": 8 - first},
            ],
        }

    two = tmp_path / "cuts.json"
    two.write_text(json.dumps({"cuts": [cut("one", 3), cut("two", 4)]}))
    known = ROOT / "verifier" / "contracts" / "known" / "torch.optim.SGD.json"
    ran = shardproof("contract", "induce", known, "--map", two)
    assert ran.code == 0
    assert "one: momentum_buffer" in ran.out
    assert "two: momentum_buffer" in ran.out
    two.write_text(json.dumps({"cuts": [cut("one", 3), cut("two", 9)]}))
    ran = shardproof("contract", "induce", known, "--map", two)
    assert ran.code == 2
    assert "/cuts/1/shards/1" in ran.err
