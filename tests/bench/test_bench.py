"""The benchmark on tiny sizes: every family and peer runs, and the report says what it must."""

import json
import random
from collections import Counter
from math import prod
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.bench.bench import SCHEMA, Plan, run
from tests.bench.families import Sizes, families
from tests.bench.many_boxes import (
    BOX_PEERS,
    DECIDE,
    FAMILIES,
    PLAN,
    SHARDED,
    ManyBoxes,
    columns_of,
    seconds_at,
)
from tests.bench.maps import grid_boxes, guillotine_boxes, view_box
from tests.bench.markdown import render
from tests.bench.measure import Effort, NotExpressible, Run, time_in_child
from tests.bench.ours import CHECK, CHECKER, CONFIRMED
from tests.bench.peers import COVERAGE, PEERS
from tests.bench.plot import growth
from tests.bench.targets import targets_of_boxes
from verifier import check_map
from verifier.certificates.check_boxes import check_tiled

TINY = Sizes(boxes=4, layers=2, experts=2, walk=8)
MANY = ("many_rows", "many_guillotine_2d")


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    plan = Plan(
        sizes=TINY,
        effort=Effort(repetitions=1, sample=0.005, cap=100.0),
        processes=1,
        families=frozenset({"columns", "grid_8_ranks", *MANY}),
        many=(64, 256),
        peers=frozenset(p.name for p in (*PEERS, *BOX_PEERS) if not p.name.startswith("z3")),
    )
    return {"command": "python -m tests.bench", **run(plan)}


@pytest.fixture(scope="module")
def page(report: dict[str, Any]) -> str:
    return render(report, "bench.svg")


def test_every_map_of_every_family_is_right() -> None:
    for family in families(TINY):
        for build in (family.maps, family.small):
            for shard_map in () if build is None else build():
                assert check_map(shard_map).exit_code == 0, (family.name, shard_map.name)


@pytest.mark.parametrize("shape", [(30, 40), (12, 9, 10)])
def test_guillotine_boxes_tile(shape: tuple[int, ...]) -> None:
    for seed in range(5):
        boxes = guillotine_boxes(random.Random(seed), shape, 60)
        assert len(boxes) == 60
        cells = Counter(cell for low, extents in boxes for cell in _cells(low, extents))
        assert len(cells) == prod(shape)
        assert set(cells.values()) == {1}


def _cells(low: tuple[int, ...], extents: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [tuple(a + b for a, b in zip(low, box[0], strict=True)) for box in grid_boxes(extents, extents)]


def test_boxes_are_read_back_from_views() -> None:
    grid = next(f for f in families(TINY) if f.name == "grid_rank_per_box").maps()[0]
    boxes = [view_box(piece.source, grid.logical_shape) for _, _, piece in grid.pieces()]
    assert boxes == grid_boxes(grid.logical_shape, (4, 4))


def test_report_is_json_with_versions_sizes_and_targets(report: dict[str, Any]) -> None:
    assert json.loads(json.dumps(report)) == report
    assert report["schema"] == SCHEMA
    assert {"shardproof", "deepspeed", "torch", "numpy", "islpy", "z3", "python"} <= report["versions"].keys()
    assert [family["name"] for family in report["families"]] == ["columns", "grid_8_ranks"]
    columns = report["families"][0]
    assert columns["size"] == {"maps": 1, "pieces": 8, "elements": 4096 * 14336}
    assert [timing["log2_elements"] for timing in report["growing_extents"]] == [10, 20, 30, 40, 50, 60]
    assert any("10,000 times faster" in target["target"] for target in report["targets"])
    assert all({"target", "measured", "met"} <= target.keys() for target in report["targets"])


def test_whoever_answers_accepts(report: dict[str, Any]) -> None:
    answered = 0
    for family in report["families"]:
        for timing in family["timings"]:
            if timing["status"] in ("measured", "extrapolated"):
                assert timing["accepted"] is True, (family["name"], timing)
                assert timing["seconds"] > 0
                answered += 1
        ours = [timing for timing in family["timings"] if timing["peer"] in (CHECK, CONFIRMED, CHECKER)]
        assert [timing["status"] for timing in ours] == ["measured"] * 3
    assert answered > 15


def test_an_extrapolated_number_says_from_where(report: dict[str, Any], page: str) -> None:
    timing = next(t for t in report["families"][0]["timings"] if t["peer"] == COVERAGE)
    start = timing["extrapolated_from"]
    assert timing["status"] == "extrapolated"
    assert start["elements"] == 8 * 4096
    assert timing["seconds"] == pytest.approx(start["seconds"] * 4096 * 14336 / start["elements"])
    assert f"for {start['elements']:,} elements walked" in page


def test_page_names_every_family_and_target(report: dict[str, Any], page: str) -> None:
    assert page.isascii()
    for family in [*report["families"], *report["many_boxes"]]:
        assert f"### {family['title']}" in page
    for target in report["targets"]:
        assert target["target"] in page


def test_a_call_past_its_limit_is_stopped() -> None:
    def prepare() -> Run:
        def run_forever() -> bool:
            while True:
                pass

        return run_forever

    timing = time_in_child(prepare, Effort(cap=0.1))
    assert (timing.status, timing.seconds) == ("capped", 0.1)


def test_what_a_peer_cannot_express_is_no_failure() -> None:
    def prepare() -> Run:
        raise NotExpressible("no words for this")

    timing = time_in_child(prepare, Effort())
    assert (timing.status, timing.note, timing.seconds) == ("not-expressible", "no words for this", None)


def test_boxes_are_measured_at_every_size_and_accepted(report: dict[str, Any]) -> None:
    assert [family["name"] for family in report["many_boxes"]] == list(MANY)
    for family in report["many_boxes"]:
        assert {timing["asked"] for timing in family["timings"]} == {64, 256}
        assert all(timing["accepted"] is True for timing in family["timings"]), family["name"]
        assert seconds_at(family, DECIDE, 64) is not None


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_of_boxes_tiles(family: ManyBoxes) -> None:
    boxes = columns_of(*family.make(family.size or 343))
    check_tiled(boxes.logical_shape, boxes.count, boxes.offsets, boxes.sizes)
    assert family.size in (None, boxes.count)


def test_targets_of_boxes_know_what_did_not_finish() -> None:
    def timing(peer: str, asked: int, seconds: float, status: str = "measured") -> dict[str, Any]:
        return {"peer": peer, "asked": asked, "boxes": asked, "seconds": seconds, "status": status}

    family = {
        "name": "many_grid_3d",
        "timings": [
            timing(DECIDE, 10_000, 0.002),
            timing(PLAN, 10_000, 40.0, "capped"),
            timing(SHARDED, 10_000, 0.9),
            timing(DECIDE, 100_000, 0.04),
            timing(SHARDED, 100_000, 16.0),
            timing(DECIDE, 1_000_000, 2.0),
        ],
    }
    found = [*targets_of_boxes([family])]
    assert [target["met"] for target in found] == [True, True, True, False]
    assert found[0]["measured"] == pytest.approx(0.4e-6)
    assert found[1]["measured"] == pytest.approx(1000)
    assert "did not finish" in found[1]["note"]
    assert found[3]["measured"] == pytest.approx(10 * 4 / 6)


def test_the_plot_is_a_picture_of_what_was_measured(report: dict[str, Any], page: str) -> None:
    picture = ElementTree.fromstring(growth(report["many_boxes"]))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert f"rows: {DECIDE}" in texts
    assert f"guillotine_2d: {PLAN}" in texts
    assert "n log n" in texts
    assert "(bench.svg)" in page
