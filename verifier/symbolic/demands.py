"""What a symbolic map has to meet, as statements on polynomials: the catalogue of obligations once more.

Balances are the questions that an engine would get: a weighted sum of views that visits nothing. Signs are
what makes the balances mean what they say: no extent is negative, no stride of a piece is. Holders are in the
balances as well: groups of equal locations and scale are held alike, and the first rank of each tiles.

Declared padding is to be exactly what no piece writes. Two limits of concrete maps are not asked: sizes are
integers without a bound, so neither the width of an index (SM109) nor the greatest number of a map counts.

Theory: T10, T11, T20.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from verifier.model.piece import Scale
from verifier.symbolic.layout import Numbers, SymbolicMap, SymbolicPiece, SymbolicView
from verifier.symbolic.polynomial import Polynomial, atom, product

DEST = "@dest"
"""The atom by which pairs are folded: the pair (a, b) is the address a + DEST * b. No size has this name."""


@dataclass(frozen=True, slots=True)
class Balance:
    """The left views visit each address as often as the right ones, which stand for themselves or a size.

    Attributes:
        name: as in the catalogue, e.g. "shard/3".
        left: views.
        right: views; none for a tiling.
        size: for a tiling, the addresses 0..size that are to be visited once each; else None.
        grid: for a tiling, the shape of which ``size`` is the product.
    """

    name: str
    left: tuple[SymbolicView, ...]
    right: tuple[SymbolicView, ...] = ()
    size: Polynomial | None = None
    grid: Numbers = ()


@dataclass(frozen=True, slots=True)
class Sign:
    """A number that is not negative, unless its piece is empty.

    ``shape`` is that of the piece; it is empty where that is no excuse.
    """

    name: str
    number: Polynomial
    shape: Numbers = ()


@dataclass(frozen=True, slots=True)
class Empty:
    """A piece that must be empty, since ``reason`` is wrong with it."""

    name: str
    shape: Numbers
    reason: str


@dataclass(frozen=True, slots=True)
class Equal:
    """A number of a map and one of its reference."""

    name: str
    here: Polynomial
    there: Polynomial


@dataclass(frozen=True, slots=True)
class Never:
    """A demand that fails whatever the sizes are."""

    name: str
    reason: str


Demand = Balance | Sign | Empty | Equal | Never


def demands(made: SymbolicMap) -> Iterator[Demand]:
    """Everything that makes a map sound, in the order of the catalogue.

    Theory: T10, T11.
    """
    yield from _signs(made, "")
    yield from _misplaced(made)
    for rank, shard in made.ranks.items():
        yield Balance(
            f"shard/{rank}",
            (*[piece.dest for piece in shard.pieces], *shard.padding),
            size=product(shard.shard_shape),
            grid=shard.shard_shape,
        )
    yield from _holders(made)


def reference_demands(made: SymbolicMap, reference: SymbolicMap) -> Iterator[Demand]:
    """Everything that makes a map the same function as a reference that can be run.

    Theory: T5.
    """
    yield from _signs(reference, "reference/")
    yield from _same_shape("logical_shape", made.logical_shape, reference.logical_shape)
    if made.ranks.keys() != reference.ranks.keys():
        yield Never("reference/ranks", f"ranks {list(made.ranks)}, not {list(reference.ranks)}")
        return
    for rank, shard in made.ranks.items():
        there = reference.ranks[rank]
        yield from _same_shape(f"shard_shape of rank {rank}", shard.shard_shape, there.shard_shape)
        ours, theirs = _pairs(shard.pieces), _pairs(there.pieces)
        for scale in sorted({*ours, *theirs}, key=str):
            yield Balance(f"reference/{rank}", ours.get(scale, ()), theirs.get(scale, ()))


def _signs(made: SymbolicMap, prefix: str) -> Iterator[Sign]:
    """The signs that are not evident, each once."""
    found: dict[tuple[Polynomial, Numbers], Sign] = {}

    def note(name: str, numbers: Numbers, shape: Numbers = ()) -> None:
        for axis, number in enumerate(numbers):
            if number.constant is None or number.constant < 0:
                found.setdefault((number, shape), Sign(f"{prefix}{name}[{axis}]", number, shape))

    note("logical_shape", made.logical_shape)
    for rank, shard in made.ranks.items():
        note(f"shard_shape of rank {rank}", shard.shard_shape)
        for position, view in enumerate(shard.padding):
            note(f"padding {position} of rank {rank}: shape", view.shape)
    for rank, position, piece in made.pieces():
        name = f"piece {position} of rank {rank}"
        note(f"{name}: shape", piece.source.shape)
        note(f"{name}: source strides", piece.source.strides, piece.source.shape)
        note(f"{name}: dest strides", piece.dest.strides, piece.source.shape)
    yield from found.values()


def _misplaced(made: SymbolicMap) -> Iterator[Empty]:
    """Pieces that no rank may hold anything by."""
    for rank, position, piece in made.pieces():
        name = f"piece {position} of rank {rank}"
        if not isinstance(piece.scale, Fraction) or not piece.scale:
            yield Empty(name, piece.source.shape, f"scale {piece.scale}")
        if rank not in piece.locations:
            yield Empty(name, piece.source.shape, f"held by rank {rank}, locations {list(piece.locations)}")


def _holders(made: SymbolicMap) -> Iterator[Balance]:
    """Groups of equal locations and scale are held alike; the first rank of each tiles the parameter."""
    groups: dict[tuple[tuple[int, ...], Scale], dict[int, list[SymbolicView]]] = {}
    for rank, _, piece in made.pieces():
        by_rank = groups.setdefault((piece.locations, piece.scale), {})
        by_rank.setdefault(rank, []).append(piece.source)
    representatives: list[SymbolicView] = []
    for (locations, scale), by_rank in groups.items():
        if not locations:
            continue
        first = by_rank.get(locations[0], [])
        representatives += first
        for rank in locations[1:]:
            name = f"holders/{','.join(map(str, locations))}/{scale}/{rank}"
            yield Balance(name, tuple(first), tuple(by_rank.get(rank, [])))
    yield Balance("parameter", tuple(representatives), size=made.numel, grid=made.logical_shape)


def _pairs(pieces: Iterable[SymbolicPiece]) -> dict[Scale, tuple[SymbolicView, ...]]:
    """The (source, dest) pairs by scale, folded into addresses by a formal atom."""
    found: dict[Scale, list[SymbolicView]] = {}
    fold = atom(DEST)
    for piece in pieces:
        source, dest = piece.source, piece.dest
        strides = [here + fold * there for here, there in zip(source.strides, dest.strides, strict=True)]
        view = SymbolicView(source.offset + fold * dest.offset, source.shape, tuple(strides))
        found.setdefault(piece.scale, []).append(view)
    return {scale: tuple(views) for scale, views in found.items()}


def _same_shape(name: str, here: Numbers, there: Numbers) -> Iterator[Demand]:
    if len(here) != len(there):
        yield Never(f"reference/{name}", f"{len(here)} axes, not {len(there)}")
        return
    for axis, (one, other) in enumerate(zip(here, there, strict=True)):
        if one != other:
            yield Equal(f"reference/{name}[{axis}]", one, other)
