"""DeepSpeed's category lists: a second, independent description of how each parameter is cut.

A model-states file says twice how a parameter is cut: by its affine map, and by the lists of patterns that
older converters go by (replicated, row-parallel, sub-parameters with their widths, else cut along axis 0).
Lowered to a map, the second is a witness against the first: only it shows exchanged halves of a fused weight.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verifier.formats.pickles.records import Call
from verifier.formats.reading.fields import integer, integers, items_of, malformed
from verifier.formats.reading.names import PatternList
from verifier.formats.reading.refusal import shown
from verifier.geometry.strided import INT64_MAX, StridedView, row_major
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

REPLICATED = "tp_replicated_parameter_patterns"
AVERAGED = "parameter_to_average_patterns"
ROW_PARALLEL = "parameter_with_row_parallelism_patterns"
VOCABULARY = "vocabulary_parameter_patterns"
TWO_HALVES = "parameter_with_2_sub_params_cat_dim_0"
SUB_PARAMS = "parameter_with_sub_params"
SUB_WIDTHS = "sub_param_shard_widths"
ELSE = "no category: cut along axis 0"
LISTS = (REPLICATED, AVERAGED, ROW_PARALLEL, VOCABULARY, TWO_HALVES)

Shapes = Mapping[int, tuple[int, ...]]
"""Shard shape by rank."""


@dataclass(frozen=True, slots=True)
class SubParams:
    """A fused parameter: ``sizes`` along ``axis`` are the sub-parameters, one after another.

    ``widths[j][r]`` is how much of sub-parameter j the r-th rank holds.
    """

    axis: int
    sizes: tuple[int, ...]
    widths: tuple[tuple[int, ...], ...]


class Categories:
    """The category lists of one file.

    Raises:
        FormatError: SM002 or SM005 for lists that are not as DeepSpeed writes them.
    """

    __slots__ = ("_fused", "_lists", "_present", "_sub_patterns")

    def __init__(self, info: Mapping[object, object], origin: Origin) -> None:
        self._present = any(key in info for key in (*LISTS, SUB_PARAMS))
        self._lists = {key: PatternList(_texts(info.get(key, []), origin.child(key))) for key in LISTS}
        self._fused: dict[str, SubParams | None] = {}
        widths = info.get(SUB_WIDTHS, {})
        if not isinstance(widths, dict):
            raise malformed(f"{SUB_WIDTHS} is {shown(widths)}", origin.child(SUB_WIDTHS), "key it by pattern")
        place = origin.child(SUB_PARAMS)
        for position, entry in enumerate(items_of(info.get(SUB_PARAMS, []), place)):
            patterns, fused = _sub_params(entry, widths, place.child(position), origin.child(SUB_WIDTHS))
            self._fused |= dict.fromkeys(patterns, None) | fused
        self._sub_patterns = PatternList(self._fused)

    @property
    def not_run(self) -> list[str]:
        """Patterns that were not run; with any of them no parameter's category is certain."""
        lists = (*self._lists.values(), self._sub_patterns)
        return [pattern for patterns in lists for pattern in patterns.wild]

    @property
    def are_stated(self) -> bool:
        """True when the file has any category list."""
        return self._present

    def witness(self, name: str, shapes: Shapes, origin: Origin | None) -> tuple[str, ShardMap] | None:
        """(category, map) of a parameter with these shard shapes; None when the lists do not say it all.

        They do not for averaged parameters, for padded vocabularies, for widths that do not fit the shapes,
        and where a pattern was not run.
        """
        if not self._present or self.not_run or not shapes:
            return None
        if self._is(VOCABULARY, name) or self._is(AVERAGED, name):
            return None
        if self._is(REPLICATED, name):
            return _labelled(REPLICATED, _replicated(name, shapes, origin))
        if self._is(TWO_HALVES, name):
            return _labelled(TWO_HALVES, _fused(name, shapes, _halves(shapes), origin))
        matched = self._sub_patterns.matching(name)
        if matched:
            return _labelled(SUB_PARAMS, _fused(name, shapes, self._fused[matched[0]], origin))
        if self._is(ROW_PARALLEL, name):
            return _labelled(ROW_PARALLEL, _fused(name, shapes, _plain(shapes, 1), origin))
        return _labelled(ELSE, _fused(name, shapes, _plain(shapes, 0), origin))

    def _is(self, category: str, name: str) -> bool:
        return bool(self._lists[category].matching(name))


def _labelled(label: str, shard_map: ShardMap | None) -> tuple[str, ShardMap] | None:
    return None if shard_map is None else (label, shard_map)


def _texts(value: object, origin: Origin) -> list[str]:
    texts: list[str] = []
    for position, item in enumerate(items_of(value, origin)):
        if not isinstance(item, str):
            raise malformed(
                f"expected a pattern, found {shown(item)}", origin.child(position), "write a text"
            )
        texts.append(item)
    return texts


def _sub_params(
    entry: object, widths: Mapping[object, object], origin: Origin, widths_origin: Origin
) -> tuple[list[str], dict[str, SubParams]]:
    """The patterns of one entry, and the fused parameter of those whose sizes and widths are recorded."""
    if isinstance(entry, Call):
        entry = entry.state
    if not isinstance(entry, dict) or not {"patterns", "shape", "partition_dim"} <= entry.keys():
        raise malformed(
            f"{shown(entry)} describes no sub-parameters", origin, "see SubparamShape in DeepSpeed"
        )
    patterns = _texts(entry["patterns"], origin.child("patterns"))
    axes = items_of(entry["shape"], origin.child("shape"))
    axis = integer(entry["partition_dim"], origin, "partition_dim")
    if not 0 <= axis < len(axes):
        raise malformed(
            f"no axis {axis} among {len(axes)}", origin.child("partition_dim"), "name an axis of shape"
        )
    fused: dict[str, SubParams] = {}
    if isinstance(axes[axis], tuple | list):
        sizes = integers(axes[axis], origin.child("shape", axis))
        for pattern in patterns:
            if pattern in widths:
                place = widths_origin.child(pattern)
                rows = items_of(widths[pattern], place)
                fused[pattern] = SubParams(
                    axis, sizes, tuple(integers(row, place.child(j)) for j, row in enumerate(rows))
                )
    return patterns, fused


def _replicated(name: str, shapes: Shapes, origin: Origin | None) -> ShardMap | None:
    distinct = set(shapes.values())
    if len(distinct) != 1:
        return None
    shape = distinct.pop()
    if not _is_addressable(shape):
        return None
    everyone = tuple(sorted(shapes))
    view = StridedView(0, shape, row_major(shape))
    shard = RankShard(shape, (Piece(view, view, everyone),))
    return ShardMap(name=name, logical_shape=shape, ranks=dict.fromkeys(everyone, shard), origin=origin)


def _plain(shapes: Shapes, axis: int) -> SubParams | None:
    if any(len(shape) <= axis for shape in shapes.values()):
        return None
    widths = tuple(shapes[rank][axis] for rank in sorted(shapes))
    return SubParams(axis, (sum(widths),), (widths,))


def _halves(shapes: Shapes) -> SubParams | None:
    """Each shard in two chunks along axis 0, the first the larger one, as torch.chunk cuts."""
    if any(not shape for shape in shapes.values()):
        return None
    rows = [shapes[rank][0] for rank in sorted(shapes)]
    first = tuple((n + 1) // 2 for n in rows)
    second = tuple(n - head for n, head in zip(rows, first, strict=True))
    return SubParams(0, (sum(first), sum(second)), (first, second))


def _fused(name: str, shapes: Shapes, sub: SubParams | None, origin: Origin | None) -> ShardMap | None:
    """The map of a fused parameter; None when the widths do not fit the shard shapes."""
    if sub is None or not _fits(sub, [shapes[rank] for rank in sorted(shapes)]):
        return None
    rank_shapes = [shapes[rank] for rank in sorted(shapes)]
    logical_shape = _with(rank_shapes[0], sub.axis, sum(sub.sizes))
    if not _is_addressable(logical_shape):
        return None
    full_strides = row_major(logical_shape)
    starts = list(itertools.accumulate(sub.sizes, initial=0))
    ranks: dict[int, RankShard] = {}
    for position, rank in enumerate(sorted(shapes)):
        strides = row_major(rank_shapes[position])
        pieces: list[Piece] = []
        written = 0
        for j, widths in enumerate(sub.widths):
            width = widths[position]
            shape = _with(rank_shapes[position], sub.axis, width)
            begin = starts[j] + sum(widths[:position])
            source = StridedView(begin * full_strides[sub.axis], shape, full_strides)
            pieces.append(Piece(source, StridedView(written * strides[sub.axis], shape, strides), (rank,)))
            written += width
        ranks[rank] = RankShard(rank_shapes[position], tuple(pieces))
    return ShardMap(name=name, logical_shape=logical_shape, ranks=ranks, origin=origin)


def _fits(sub: SubParams, shapes: Sequence[tuple[int, ...]]) -> bool:
    if any(len(shape) <= sub.axis for shape in shapes) or len(sub.widths) != len(sub.sizes):
        return False
    if any(len(widths) != len(shapes) or min(widths, default=0) < 0 for widths in sub.widths):
        return False
    if any(sum(widths) != size for widths, size in zip(sub.widths, sub.sizes, strict=True)):
        return False
    across = {_with(shape, sub.axis, 0) for shape in shapes}
    return len(across) == 1 and all(
        shape[sub.axis] == sum(widths[position] for widths in sub.widths) and math.prod(shape) >= 0
        for position, shape in enumerate(shapes)
    )


def _is_addressable(shape: tuple[int, ...]) -> bool:
    """Whether torch can address a parameter of this shape, counting empty axes as one element."""
    return math.prod(max(extent, 1) for extent in shape) <= INT64_MAX


def _with(shape: tuple[int, ...], axis: int, extent: int) -> tuple[int, ...]:
    return (*shape[:axis], extent, *shape[axis + 1 :])
