"""The released package as real input: its maps are right, and we agree; its accepted wrong maps are wrong."""

from __future__ import annotations

import random

import pytest

from tests.downstream.deepspeed_affine import affine, shard_map
from tests.downstream.deepspeed_families import FAMILIES
from verifier import Proved, Refuted, check_map
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.lints import lints

DEGREES = (1, 2, 3, 4, 8)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_map_of_the_released_constructors_is_proved(family: str, degree: int) -> None:
    rng = random.Random(f"{family}:{degree}")
    for _ in range(12):
        theirs = FAMILIES[family](rng, degree)
        theirs.validate_coverage()  # type: ignore[attr-defined]
        report = check_map(shard_map(theirs))
        assert isinstance(report.verdict, Proved), str(theirs)
        report.raise_if_not_proved()


def test_lints_raise_no_false_alarm_and_see_every_destination_swap() -> None:
    rng = random.Random(3000)
    swaps = 0
    for number in range(3000):
        family = list(FAMILIES)[number % len(FAMILIES)]
        clean = shard_map(FAMILIES[family](rng, rng.choice(DEGREES)))
        assert list(lints(clean)) == [], family
        swapped = _with_swapped_destinations(clean, rng)
        if swapped is not None:
            swaps += 1
            assert isinstance(check_map(swapped).verdict, Proved), "a swap keeps the tiling"
            assert list(lints(swapped)), family
    assert swaps > 300


def _with_swapped_destinations(clean: ShardMap, rng: random.Random) -> ShardMap | None:
    """Two pieces of one rank with equal shapes exchange their destinations: a valid, different map."""
    for rank, shard in clean.ranks.items():
        candidates = [
            (i, j)
            for i, first in enumerate(shard.pieces)
            for j, second in enumerate(shard.pieces)
            if i < j and first.shape == second.shape and first.numel
        ]
        if candidates:
            i, j = rng.choice(candidates)
            pieces = list(shard.pieces)
            first, second = pieces[i], pieces[j]
            pieces[i] = Piece(first.source, second.dest, first.locations, first.scale)
            pieces[j] = Piece(second.source, first.dest, second.locations, second.scale)
            ranks = {**clean.ranks, rank: RankShard(shard.shard_shape, tuple(pieces))}
            return ShardMap(name=clean.name, logical_shape=clean.logical_shape, ranks=ranks)
    return None


def single_rank(logical: tuple[int, ...], shard: tuple[int, ...], *pieces: Piece) -> ShardMap:
    return ShardMap(name="claim", logical_shape=logical, ranks={0: RankShard(shard, pieces)})


def piece(
    shape: tuple[int, ...], source: tuple[int, tuple[int, ...]], dest: tuple[int, tuple[int, ...]]
) -> Piece:
    return Piece(StridedView(source[0], shape, source[1]), StridedView(dest[0], shape, dest[1]), (0,))


CLAIMS: dict[str, tuple[ShardMap, str | None]] = {
    "8922: fused columns, the second piece lands on the first": (
        single_rank(
            (4, 8),
            (4, 8),
            piece((4, 4), (0, (8, 1)), (0, (8, 1))),
            piece((4, 4), (4, (8, 1)), (0, (8, 1))),
        ),
        "SM201",
    ),
    "8922: one destination offset of a strided piece is off by one": (
        single_rank(
            (4, 8),
            (4, 8),
            piece((4, 4), (0, (8, 1)), (0, (8, 1))),
            piece((4, 4), (4, (8, 1)), (3, (8, 1))),
        ),
        "SM201",
    ),
    "8922: a dense piece overlapped by a strided one": (
        single_rank((8,), (8,), piece((4,), (0, (1,)), (0, (1,))), piece((4,), (4, (1,)), (1, (2,)))),
        "SM201",
    ),
    "8922: a strided destination leaves its shard": (
        single_rank(
            (4, 4),
            (4, 4),
            piece((4, 2), (0, (4, 1)), (0, (4, 1))),
            piece((4, 2), (2, (4, 1)), (3, (4, 1))),
        ),
        "SM101",
    ),
    "8922: a wrapped view of a 3x3 shard is valid": (
        single_rank(
            (9,),
            (3, 3),
            piece((2, 2), (0, (2, 1)), (2, (3, 1))),
            piece((2,), (4, (1,)), (0, (1,))),
            piece((1,), (6, (1,)), (4, (1,))),
            piece((2,), (7, (1,)), (7, (1,))),
        ),
        None,
    ),
    "8975: a source offset of 0 instead of 4": (
        single_rank((8,), (8,), piece((4,), (0, (1,)), (0, (1,))), piece((4,), (0, (1,)), (4, (1,)))),
        "SM302",
    ),
    "8975: a destination that overlaps itself": (
        single_rank((4,), (4,), piece((2, 2), (0, (2, 1)), (0, (1, 1)))),
        "SM202",
    ),
    "8975: a source of stride 0": (
        single_rank((4,), (4,), piece((4,), (0, (0,)), (0, (1,)))),
        "SM302",
    ),
    "8975: strides (2, 3) over (3, 2) do not overlap": (
        single_rank(
            (8,),
            (8,),
            piece((3, 2), (0, (2, 1)), (0, (2, 3))),
            piece((1,), (6, (1,)), (1, (1,))),
            piece((1,), (7, (1,)), (6, (1,))),
        ),
        None,
    ),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_of_8922_and_8975(claim: str) -> None:
    shard, code = CLAIMS[claim]
    verdict = check_map(shard).verdict
    if code is None:
        assert isinstance(verdict, Proved)
    else:
        assert isinstance(verdict, Refuted)
        assert verdict.witness.code == code


WRONGLY_ACCEPTED = [claim for claim, (_, code) in CLAIMS.items() if code and "stride 0" not in claim]


@pytest.mark.parametrize("claim", [c for c in WRONGLY_ACCEPTED if "dense piece" not in c])
def test_the_release_accepts_what_we_refute(claim: str) -> None:
    """Its ``validate()`` says nothing about these maps; if a release starts to, this test should know."""
    release = affine()
    shard, _ = CLAIMS[claim]
    pieces = [
        release.AffinePiece(
            shape=p.shape,
            source_offset=p.source.offset,
            source_strides=p.source.strides,
            dest_offset=p.dest.offset,
            dest_strides=p.dest.strides,
            locations=list(p.locations),
        )
        for p in shard.ranks[0].pieces
    ]
    theirs = release.ParamAffineMap(
        logical_shape=shard.logical_shape,
        shard_shapes={0: shard.ranks[0].shard_shape},
        pieces_by_rank={0: pieces},
    )
    theirs.validate()
