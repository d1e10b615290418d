"""The affine form of a shard map, decoded strictly: every number is what it says, every field is known.

    map    {"logical_shape": [..], "ranks": {rank: shard}}, optionally "version": 1
    shard  {"shard_shape": [..], "pieces": [piece, ..]}
    piece  {"shape": [..], "source": view, "dest": view, "locations": [..]}, optionally "scale": number
    view   [offset, [strides]]

Values are JSON values, or the equal plain objects of a pickle (where tuples stand for lists and ranks may be
integers). Nothing is coerced: 4.0, true and "4" are no integers.
"""

from __future__ import annotations

from collections.abc import Mapping

from verifier.formats.reading.fields import (
    Interned,
    address_list,
    fields_of,
    integer,
    integers,
    interned_tuple,
    items_of,
    number,
    rank_keys,
)
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.geometry.strided import StridedView
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

VERSION = 1
MAP_FIELDS = ("logical_shape", "ranks")
SHARD_FIELDS = ("shard_shape", "pieces")
PIECE_FIELDS = ("shape", "source", "dest", "locations")
VIEW_HELP = "write [offset, [strides]], both counting elements"


def check_version(value: object, origin: Origin) -> None:
    """Accept the one version of the affine form that is known.

    Raises:
        FormatError: SM004 for anything but the integer 1.
    """
    if type(value) is not int or value != VERSION:
        raise FormatError(
            "SM004",
            f"affine map version {shown(value)}; only the integer {VERSION} is known",
            origin,
            help="write the map in version 1; a later version may give the same fields another meaning",
        )


Decoded = dict[str, ShardMap]
"""Maps by the text of the value they were decoded from: a checkpoint says the same a thousand times."""

MOST_REMEMBERED = 64
"""Ranks of a map whose text is looked up; writing out a larger one costs as much as decoding it."""


def decode_again(
    value: object, *, name: str, origin: Origin, limits: Limits, interned: Interned, decoded: Decoded
) -> ShardMap:
    """As ``decode_map``; an equal value, type by type, is decoded once.

    Raises:
        FormatError: as ``decode_map``.
    """
    ranks = value.get("ranks") if isinstance(value, dict) else None
    if not isinstance(ranks, dict) or len(ranks) > MOST_REMEMBERED:
        return decode_map(value, name=name, origin=origin, limits=limits, interned=interned)
    text = repr(value)
    known = decoded.get(text)
    if known is not None:
        return ShardMap(name=name, logical_shape=known.logical_shape, ranks=known.ranks, origin=origin)
    shard_map = decode_map(value, name=name, origin=origin, limits=limits, interned=interned)
    if len(decoded) < limits.files:
        decoded[text] = shard_map
    return shard_map


def decode_map(value: object, *, name: str, origin: Origin, limits: Limits, interned: Interned) -> ShardMap:
    """The shard map that ``value`` describes.

    Raises:
        FormatError: SM002, SM003, SM004, SM005, SM006, SM103, SM104 or SM108 at the first malformed value.
    """
    fields = fields_of(value, origin, required=MAP_FIELDS, optional=("version",))
    if "version" in fields:
        check_version(fields["version"], origin.child("version"))
    logical_shape = _extents(fields, "logical_shape", origin, limits, interned)
    ranks_origin = origin.child("ranks")
    ranks: dict[int, RankShard] = {}
    for rank, key, shard in rank_keys(fields["ranks"], ranks_origin):
        ranks[rank] = _shard(shard, ranks_origin.child(key), limits, interned)
    return ShardMap(name=name, logical_shape=logical_shape, ranks=ranks, origin=origin)


def _shard(value: object, origin: Origin, limits: Limits, interned: Interned) -> RankShard:
    fields = fields_of(value, origin, required=SHARD_FIELDS)
    shard_shape = _extents(fields, "shard_shape", origin, limits, interned)
    pieces_origin = origin.child("pieces")
    pieces = tuple(
        _piece(piece, pieces_origin.child(position), limits, interned)
        for position, piece in enumerate(items_of(fields["pieces"], pieces_origin))
    )
    return RankShard(shard_shape, pieces)


def _piece(value: object, origin: Origin, limits: Limits, interned: Interned) -> Piece:
    fields = fields_of(value, origin, required=PIECE_FIELDS, optional=("scale",))
    shape = _extents(fields, "shape", origin, limits, interned)
    source = _view(fields, "source", shape, origin, interned)
    dest = _view(fields, "dest", shape, origin, interned)
    locations = _locations(fields["locations"], origin, interned)
    if "scale" not in fields:
        return Piece(source, dest, locations)
    return Piece(source, dest, locations, number(fields["scale"], origin.child("scale")))


def _extents(
    fields: Mapping[str, object], key: str, origin: Origin, limits: Limits, interned: Interned
) -> tuple[int, ...]:
    extents = integers(fields[key], origin, key)
    if len(extents) > limits.axes:
        raise FormatError(
            "SM006",
            f"{len(extents)} axes, over the limit of {limits.axes}",
            origin.child(key),
            help="no tensor library has as many axes; merge axes or repair the shape",
        )
    for axis, extent in enumerate(extents):
        if extent < 0:
            raise FormatError(
                "SM104",
                f"negative extent {shown(extent)}",
                origin.child(key, axis),
                help="an extent counts elements along an axis; write 0 for an empty block",
            )
    return interned_tuple(extents, interned)


def _view(
    fields: Mapping[str, object], side: str, shape: tuple[int, ...], origin: Origin, interned: Interned
) -> StridedView:
    value = fields[side]
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise FormatError(
            "SM002", f"{side} is {shown(value)}, not a pair", origin.child(side), help=VIEW_HELP
        )
    offset = integer(value[0], origin, side, 0)
    strides = integers(value[1], origin, side, 1)
    if len(strides) != len(shape):
        raise FormatError(
            "SM103",
            f"{side} has {len(strides)} strides for {len(shape)} axes",
            origin.child(side, 1),
            help="give one stride per axis of the piece's shape",
        )
    return StridedView(offset, shape, interned_tuple(strides, interned))


def _locations(value: object, origin: Origin, interned: Interned) -> tuple[int, ...]:
    for position, rank in enumerate(integers(value, origin, "locations")):
        if rank < 0:
            raise FormatError(
                "SM108",
                f"location {shown(rank)} is no rank",
                origin.child("locations", position),
                help="ranks are not negative; name ranks of this map",
            )
    locations = address_list(value, origin, "locations", what="location")
    return interned_tuple(locations, interned)
