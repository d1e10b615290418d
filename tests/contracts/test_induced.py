"""T26: the closed forms of induced maps say what the definition says, and their maps are proved."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from typing import Literal

import pytest

from fuzz.contracts.differential import disagreement
from fuzz.contracts.drawing import draw_cut, draw_geometry
from tests.counting import calls_at_most
from verifier.audit.check import check_map
from verifier.contracts.document import StateField
from verifier.contracts.geometry import Geometry, Reduction
from verifier.contracts.induced.fibres import held_by, supports
from verifier.contracts.induced.fields import by_closed_form, induced_field
from verifier.contracts.shards import MemberShard, ParameterCut

Weighting = Literal["mean_of_means"] | None
PAIRS = int(os.environ.get("SHARDPROOF_INDUCED_PAIRS", "1500"))


def test_T26_closed_forms_are_the_definition_and_their_maps_are_proved() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(PAIRS):
        rng = random.Random(seed)
        cut = draw_cut(rng)
        geometry = draw_geometry(rng, len(cut.shape))
        assert disagreement(cut, geometry) is None
        seen[geometry.kind, by_closed_form(cut, geometry, "f").kind] += 1
    for kind in ("row", "column"):
        for word in ("dropped", "needs_reduction", "impossible"):
            assert seen[kind, word] >= 3


def field(geometry: Geometry, reduction: Reduction) -> StateField:
    """A field of the geometry with a reduction."""
    return StateField(
        name="f",
        scope="parameter",
        geometry=geometry,
        dtype="float32",
        checkpointed=True,
        optional=False,
        distribution="follow",
        reduction=reduction,
    )


def halves(shape: tuple[int, ...], cut: int) -> ParameterCut:
    """Two members, the second from element ``cut`` of the flat parameter on."""
    whole = ParameterCut(
        fqn="w", shape=shape, layout="flat_shard", group="dp", members=("a", "b"), shards=()
    ).numel
    return ParameterCut(
        fqn="w",
        shape=shape,
        layout="flat_shard",
        group="dp",
        members=("a", "b"),
        shards=(
            MemberShard(member="a", offsets=(0,), lengths=(cut,)),
            MemberShard(member="b", offsets=(cut,), lengths=(whole - cut,)),
        ),
    )


@pytest.mark.parametrize("size", [1, 256])
def test_counting_blocks_is_not_enough(size: int) -> None:
    """The smallest trap: 257 elements, cut at 1, blocks of 256: the counts 1 and 1 add up to 2."""
    found = by_closed_form(halves((257,), 1), Geometry(kind="block", size=size), "f")
    assert (found.kind, found.rule) == (("block_aligned", "") if size == 1 else ("impossible", "M6"))


@pytest.mark.parametrize(
    ("cut", "kind"),
    [(16 * 500_000_000, "dropped"), (16 * 500_000_000 + 8, "impossible"), (8, "impossible")],
)
def test_columns_of_a_billion_matrices_take_no_time(cut: int, kind: str) -> None:
    """Only matrices that a cut goes through are looked at."""
    with calls_at_most(1000):
        found = by_closed_form(halves((10**9, 4, 4), cut), Geometry(kind="column"), "f")
    assert found.kind == kind


def test_columns_that_two_members_share_in_one_matrix_of_many() -> None:
    """Each member holds the columns of its half of the one matrix that is cut, and nothing else."""
    cut = halves((1, 4, 4), 8)
    found = by_closed_form(cut, Geometry(kind="column"), "f")
    assert (found.kind, found.rule) == ("needs_reduction", "M2")
    assert found.shard_map is not None
    assert check_map(found.shard_map).subjects[0].verdict == "proved"


def test_a_mesh_that_replicates_replicates_all_state() -> None:
    cut = ParameterCut(
        fqn="w",
        shape=(2, 3),
        layout="dim_shard",
        group="dp",
        members=("a", "b"),
        shards=tuple(MemberShard(member=m, offsets=(0, 0), lengths=(2, 3), is_box=True) for m in "ab"),
    )
    for geometry in (Geometry(kind="row"), Geometry(kind="factor", axis=0), Geometry(kind="opaque")):
        assert by_closed_form(cut, geometry, "f").kind == "replicated"


def evenly(cut: ParameterCut, geometry: Geometry) -> bool:
    """By listing: all members that share an element hold equally many elements that it is made from."""
    held = held_by(cut)
    for fed in supports(geometry, cut.shape).values():
        parts = {len(elements & fed) for elements in held.values()} - {0}
        if len(parts) > 1:
            return False
    return True


@pytest.mark.parametrize("weighting", ["mean_of_means", None])
def test_a_mean_of_means_is_a_mean_where_parts_are_equal(weighting: Weighting) -> None:
    seen: Counter[bool] = Counter()
    for seed in range(6000):
        rng = random.Random(seed)
        cut = draw_cut(rng)
        geometry = draw_geometry(rng, len(cut.shape))
        if geometry.kind not in ("row", "column"):
            continue
        axes = tuple(range(len(cut.shape)))
        reduction = Reduction(axes=axes, op="mean", weighting=weighting)
        if induced_field(cut, field(geometry, replace(reduction, weighting="sum_then_divide"))).rule != "M2":
            continue
        found = induced_field(cut, field(geometry, reduction))
        even = evenly(cut, geometry)
        assert found.rule == ("M2" if even else "M10"), (cut, geometry)
        seen[even] += 1
    assert min(seen.values()) > 10


def test_equal_shards_may_hold_unequal_parts_of_a_column() -> None:
    """Six elements in rows of two, cut at 3: each column has two elements on one member, one on the other."""
    reduction = Reduction(axes=(0,), op="mean", weighting="mean_of_means")
    found = induced_field(halves((3, 2), 3), field(Geometry(kind="column"), reduction))
    assert (found.kind, found.rule) == ("impossible", "M10")
    found = induced_field(halves((4, 2), 4), field(Geometry(kind="column"), reduction))
    assert (found.kind, found.rule) == ("needs_reduction", "M2")


@pytest.mark.parametrize(("axes", "rule"), [((0,), "M2"), ((1,), "M5"), ((-2,), "M2"), ((), "M5")])
def test_a_reduction_is_over_the_axis_that_members_share(axes: tuple[int, ...], rule: str) -> None:
    reduction = Reduction(axes=axes, op="mean", weighting="sum_then_divide")
    assert induced_field(halves((4, 2), 4), field(Geometry(kind="column"), reduction)).rule == rule
