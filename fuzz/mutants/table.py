"""Every mutant with what may be said of it.

Theory: T18 says which are sure.
"""

from __future__ import annotations

from collections.abc import Iterable

from fuzz.mutants.lists import (
    add_location,
    drop_location,
    drop_piece,
    drop_rank,
    duplicate_piece,
    exchange,
    move_piece,
    rename_location,
    replace_by_copy,
    swap_pieces,
    swap_ranks,
)
from fuzz.mutants.mutant import Change, Mutant, on_piece
from fuzz.mutants.piece_numbers import (
    any_number,
    break_scale,
    change_scale,
    huge_number,
    negative_junk,
    reflect,
    resize,
    restride,
    shift,
    swap_strides,
    zero_stride,
)
from fuzz.mutants.shapes import of_a_shard, of_the_parameter, permuted, resized

SURE, PERHAPS = True, False


def _mutant(name: str, sure: bool, change: Change, *codes: Iterable[str]) -> Mutant:
    return Mutant(name, change, sure, frozenset().union(*codes))


READ = ("SM102", "SM109", "SM301", "SM302", "SM303", "SM402", "SM403", "SM506")
"""A piece reads elsewhere."""
WRITTEN = ("SM101", "SM109", "SM201", "SM203")
"""A piece writes elsewhere, no address twice by itself."""
BACKWARDS = ("SM105",)
TWICE = ("SM202",)
LESS = ("SM203", "SM301", "SM402", "SM505")
"""A rank holds less."""
MOVED = ("SM101", "SM201", "SM203", "SM302", "SM401", "SM505")
"""A rank holds what another one should."""
SUM = ("SM505",)
FUNCTION = ("SM501",)

MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant
    for mutant in (
        _mutant("shift-source", SURE, on_piece(shift("source")), READ, FUNCTION),
        _mutant("shift-dest", SURE, on_piece(shift("dest")), WRITTEN, FUNCTION),
        _mutant("source-stride", SURE, on_piece(restride("source")), READ, BACKWARDS, FUNCTION),
        _mutant("dest-stride", SURE, on_piece(restride("dest")), WRITTEN, TWICE, BACKWARDS, FUNCTION),
        _mutant("zero-stride", SURE, on_piece(zero_stride), TWICE, ("SM302",), LESS, FUNCTION),
        _mutant("reflect", SURE, on_piece(reflect), BACKWARDS, FUNCTION),
        _mutant("negative-junk", SURE, on_piece(negative_junk), BACKWARDS),
        _mutant("swap-source-strides", SURE, on_piece(swap_strides("source")), READ, FUNCTION),
        _mutant("swap-dest-strides", PERHAPS, on_piece(swap_strides("dest")), WRITTEN, TWICE, FUNCTION),
        _mutant("grow-extent", SURE, on_piece(resize(1)), READ, WRITTEN, TWICE, FUNCTION),
        _mutant("shrink-extent", SURE, on_piece(resize(-1)), LESS, FUNCTION),
        _mutant("drop-piece", SURE, drop_piece, LESS, FUNCTION),
        _mutant("duplicate-piece", SURE, duplicate_piece, ("SM201", "SM302"), FUNCTION),
        _mutant("replace-by-copy", PERHAPS, replace_by_copy, LESS, MOVED, FUNCTION),
        _mutant("swap-sources", PERHAPS, exchange("source"), ("SM303", "SM402", "SM403"), FUNCTION),
        _mutant("swap-dests", PERHAPS, exchange("dest"), FUNCTION),
        _mutant("move-piece", SURE, move_piece, MOVED, FUNCTION),
        _mutant("swap-ranks", PERHAPS, swap_ranks, ("SM203", "SM401"), SUM, FUNCTION),
        _mutant("drop-rank", SURE, drop_rank, ("SM108", "SM301", "SM402"), SUM, FUNCTION),
        _mutant("drop-location", PERHAPS, on_piece(drop_location), ("SM107", "SM401", "SM403"), SUM),
        _mutant("add-location", PERHAPS, add_location, ("SM108", "SM402", "SM403", "SM506"), SUM),
        _mutant("change-scale", SURE, on_piece(change_scale), ("SM303",), SUM, FUNCTION),
        _mutant("break-scale", SURE, on_piece(break_scale), ("SM106", "SM303"), SUM, FUNCTION),
        _mutant("shard-size", SURE, of_a_shard(resized), ("SM101", "SM203"), FUNCTION),
        _mutant("permute-shard-shape", SURE, of_a_shard(permuted), FUNCTION),
        _mutant("logical-size", SURE, of_the_parameter(resized), ("SM102", "SM301"), FUNCTION),
        _mutant("permute-logical-shape", SURE, of_the_parameter(permuted), FUNCTION),
        _mutant("huge-number", PERHAPS, on_piece(huge_number), READ, WRITTEN, TWICE, FUNCTION),
        _mutant("swap-pieces", PERHAPS, swap_pieces, MOVED, FUNCTION),
        _mutant("rename-location", PERHAPS, rename_location, ("SM108", "SM401", "SM403"), SUM),
        _mutant("any-number", PERHAPS, on_piece(any_number), READ, WRITTEN, TWICE, BACKWARDS, FUNCTION),
    )
}
"""Every mutant by name."""
NUMBERS = ("shift-source", "shift-dest", "source-stride", "dest-stride")
"""The mutants of one offset or one stride."""
