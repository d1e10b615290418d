"""Pictures agree with listing every address; windows have true heads."""

from collections import Counter
from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.diagnostics.finding import Picture
from verifier.diagnostics.pictures import (
    FREE,
    NOBODY,
    SEVERAL,
    copies_picture,
    edge_picture,
    holders_picture,
    shard_picture,
)
from verifier.diagnostics.sides import parameter_first, shard_first
from verifier.diagnostics.windows import SPAN, window_of
from verifier.geometry.strided import StridedView, coordinates, row_major
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

modest = settings(max_examples=80, deadline=None)
shapes = st.lists(st.integers(1, 12), min_size=1, max_size=4).map(tuple)


def listed(view: StridedView) -> Counter[int]:
    return Counter(view.address(index) for index in product(*map(range, view.shape)))


@st.composite
def blocks(draw: st.DrawFn) -> Piece:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    strides = st.tuples(*[st.integers(-2, 9) for _ in shape])
    source = StridedView(draw(st.integers(0, 40)), shape, draw(strides))
    return Piece(source, StridedView(draw(st.integers(0, 40)), shape, draw(strides)), (0,))


shards = st.builds(RankShard, shapes, st.lists(blocks(), max_size=12).map(tuple))


@modest
@given(shapes, st.data())
def test_a_window_has_true_heads_and_holds_its_witness(shape: tuple[int, ...], data: st.DataObject) -> None:
    address = data.draw(st.integers(0, prod(shape) - 1))
    window = window_of("t", shape, address)
    assert window is not None
    assert window.addresses[window.witness[0]][window.witness[1]] == address
    assert len(window.addresses) <= SPAN
    leading = coordinates(address, shape)[:-2]
    for row_head, row in zip(window.row_heads, window.addresses, strict=True):
        for column_head, at in zip(window.column_heads, row, strict=True):
            element = coordinates(at, shape)
            if len(shape) == 1:
                assert (row_head, column_head) == ("", f"@{at}")
            else:
                assert (row_head, column_head) == (f"r{element[-2]}", f"c{element[-1]}")
                assert element[:-2] == leading
                assert len(shape) == 2 or f"[{', '.join(map(str, leading))}, :, :]" in window.title
    high = len(window.column_heads) - 1
    assert window.cut[2] == (coordinates(window.addresses[0][0], shape)[-1] > 0)
    assert window.cut[3] == (coordinates(window.addresses[0][high], shape)[-1] < shape[-1] - 1)


def test_an_address_outside_has_no_window() -> None:
    assert window_of("t", (2, 3), 6) is None
    assert window_of("t", (2, 3), -1) is None
    assert window_of("t", (2, 0), 0) is None
    assert window_of("t", (2**70,), 2**69) is None
    assert window_of("t", (), 0) is not None


def explained(picture: Picture, mark: str) -> str:
    """The legend entry of a mark."""
    for key, meaning in picture.legend:
        if mark in key.split(" ") or (len(key) == 3 and key[1] == "-" and key[0] <= mark <= key[2]):
            return meaning
    raise AssertionError(f"{mark} is not in {picture.legend}")


@modest
@given(shards, st.sets(st.integers(0, 60), max_size=5), st.data())
def test_T14_a_shard_picture_agrees_with_listing(
    shard: RankShard, free: set[int], data: st.DataObject
) -> None:
    shard_map = ShardMap(name="w", logical_shape=(50,), ranks={3: shard})
    address = data.draw(st.integers(0, shard.numel - 1))
    picture = shard_picture(shard_map, 3, address, free=free)
    window = window_of("t", shard.shard_shape, address)
    assert picture is not None
    assert window is not None
    visits = [listed(piece.dest) for piece in shard.pieces]
    for row, line in zip(picture.rows, window.addresses, strict=True):
        for mark, at in zip(row.cells, line, strict=True):
            total = sum(count[at] for count in visits)
            if total == 0:
                assert mark == (FREE if at in free else NOBODY)
            elif total > 1:
                assert mark == SEVERAL
            else:
                (writer,) = [k for k, count in enumerate(visits) if count[at]]
                if len(shard.pieces) <= 10:
                    assert mark == str(writer)
                else:
                    assert "piece" in explained(picture, mark)
            assert explained(picture, mark)


@modest
@given(st.lists(shards, min_size=1, max_size=3), shapes, st.data())
def test_T14_a_holders_picture_agrees_with_listing(
    ranks: list[RankShard], shape: tuple[int, ...], data: st.DataObject
) -> None:
    shard_map = ShardMap(name="w", logical_shape=shape, ranks=dict(enumerate(ranks)))
    address = data.draw(st.integers(0, shard_map.numel - 1))
    picture, window = holders_picture(shard_map, address), window_of("t", shape, address)
    assert picture is not None
    assert window is not None
    visits = {
        rank: sum((listed(p.source) for p in shard.pieces), Counter())
        for rank, shard in shard_map.ranks.items()
    }
    for row, line in zip(picture.rows, window.addresses, strict=True):
        for mark, at in zip(row.cells, line, strict=True):
            holders = [rank for rank, count in visits.items() if count[at]]
            total = sum(count[at] for count in visits.values())
            assert mark == (NOBODY if not holders else str(holders[0]) if total == 1 else SEVERAL)


def elements_at(addresses: set[int], shape: tuple[int, ...]) -> set[str]:
    inside = range(prod(shape))
    return {str(list(coordinates(at, shape))) if at in inside else f"address {at}" for at in addresses}


@modest
@given(shards, shapes, st.data())
def test_T14_cells_of_both_pictures_name_the_elements_they_hold(
    shard: RankShard, shape: tuple[int, ...], data: st.DataObject
) -> None:
    shard_map = ShardMap(name="w", logical_shape=shape, ranks={0: shard})
    address = data.draw(st.integers(0, shard.numel - 1))
    picture, window = shard_picture(shard_map, 0, address), window_of("t", shard.shard_shape, address)
    assert picture is not None
    assert window is not None
    carried: dict[int, set[int]] = {}
    for piece in shard.pieces:
        for index in product(*map(range, piece.shape)):
            carried.setdefault(piece.dest.address(index), set()).add(piece.source.address(index))
    for row, line in zip(picture.rows, window.addresses, strict=True):
        for named, at in zip(row.elements, line, strict=True):
            true = elements_at(carried.get(at, set()), shape)
            assert set(named) <= true
            assert len(set(named)) == len(named) >= min(len(true), 1)
    parameter = holders_picture(shard_map, 0)
    assert parameter is not None
    assert parameter.rows[0].elements[0] == (str([0] * len(shape)),)


@modest
@given(shards, shapes, st.data())
def test_the_counterpart_shows_an_element_of_the_picture_beside_it(
    shard: RankShard, shape: tuple[int, ...], data: st.DataObject
) -> None:
    shard_map = ShardMap(name="w", logical_shape=shape, ranks={0: shard})
    on_shard = shard_first(shard_map, 0, data.draw(st.integers(0, shard.numel - 1)))
    on_parameter = parameter_first(shard_map, data.draw(st.integers(0, prod(shape) - 1)))
    for sides in (on_shard, on_parameter):
        if sides.shown is None or sides.beside is None:
            continue
        pictures = (sides.shown, sides.beside)
        if any(len(cell) > 1 for picture in pictures for line in picture.rows for cell in line.elements):
            continue  # a cell that holds several elements names only some of them
        row, column = sides.beside.witness or (0, 0)
        there = set(sides.beside.rows[row].elements[column])
        assert there & {name for line in sides.shown.rows for cell in line.elements for name in cell}


@modest
@given(blocks().filter(lambda piece: not piece.is_empty), st.integers(0, 30))
def test_an_edge_picture_shows_what_is_outside(piece: Piece, size: int) -> None:
    reached = piece.dest.highest
    picture = edge_picture("t", piece, "dest", size, reached, (41,))
    assert picture is not None
    visited = listed(piece.dest)
    for mark, head in zip(picture.rows[0].cells, picture.columns, strict=True):
        assert head != mark, "a head that looks like a mark"
        at = int(head.removeprefix("@"))
        inside = 0 <= at < size
        assert mark == ("+" if inside else "!") if visited[at] else mark == (NOBODY if inside else "-")


def test_two_pieces_say_both_and_one_piece_says_twice() -> None:
    cell = StridedView(0, (1,), (1,))
    twice = StridedView(0, (2,), (0,))
    both = RankShard((2,), (Piece(cell, cell, (0,)), Piece(cell, cell, (0,))))
    self_overlap = RankShard((2,), (Piece(twice, twice, (0,)),))
    meanings = []
    for shard in (both, self_overlap):
        picture = shard_picture(ShardMap(name="w", logical_shape=(2,), ranks={0: shard}), 0, 0)
        assert picture is not None
        meanings.append(dict(picture.legend)[SEVERAL])
    assert meanings == ["both write here", "a piece writes here twice"]


def test_a_large_shard_costs_no_more_than_its_window() -> None:
    shape = (2**20, 2**20)
    strides = row_major(shape)
    halves = tuple(
        Piece(
            StridedView(k * 2**39, (2**19, 2**20), strides),
            StridedView(k * 2**39, (2**19, 2**20), strides),
            (0,),
        )
        for k in (0, 1)
    )
    shard_map = ShardMap(name="w", logical_shape=shape, ranks={0: RankShard(shape, halves)})
    picture = shard_picture(shard_map, 0, 2**39)
    assert picture is not None
    assert [row.cells[0] for row in picture.rows] == list("0001111")
    copies = copies_picture(shard_map, 0, 2**39)
    assert copies is not None
    assert copies.rows == picture.rows


def test_too_many_views_are_not_drawn() -> None:
    cell = StridedView(0, (1,), (1,))
    crowd = RankShard((2,), (Piece(cell, cell, (0,)),) * 300)
    assert shard_picture(ShardMap(name="w", logical_shape=(2,), ranks={0: crowd}), 0, 0) is None
