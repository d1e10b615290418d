"""Maps and faults that nothing vouches for: pieces that do not exist, missing values, hostile names."""

import re
from fractions import Fraction
from unicodedata import category, east_asian_width

from hypothesis import strategies as st

from verifier.diagnostics.codes import CODES
from verifier.diagnostics.snippets import Span
from verifier.geometry.strided import StridedView
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Count, Fault, Visit

names = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "",
            "x" * 5000,
            "\x1b[2J\x1b[31mowned",
            "a\nerror[SM201] forged: line",
            "\u202egnirts",
            "\ud800",
            "{rank} {0} %s",
            "\u4e2d\u6587" * 40,
            "u\u0308" * 50 + "u" + "\u0308" * 50,
            "\ud55c\u115f\u3164\u200b\u2800",
        ]
    ),
)

_HIDDEN = re.compile(
    r"[\u034f\u115f\u1160\u2800\u3164\ufe0f\uffa0]|(?<![\w\u0300-\u036f])[\u0300-\u036f]|[\u0300-\u036f]{3}"
)


def assert_inert(text: str) -> None:
    """Nothing in a text acts on a terminal, is invisible or reorders what is read."""
    for line in text.split("\n"):
        assert line.isprintable(), ascii(line)
        assert _HIDDEN.search(line) is None, ascii(line)


def width(line: str) -> int:
    """Columns of a line on a terminal."""
    return sum(2 if east_asian_width(c) in "WF" else 0 if category(c) in ("Mn", "Me") else 1 for c in line)


small = st.integers(-3, 12)
numbers = st.one_of(small, st.sampled_from([2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**5000, -(10**5000)]))
held = st.one_of(small, st.sampled_from([2**31, 2**63 - 1, 2**63, -(2**63) - 1, 2**127 - 1, 1 - 2**127]))
"""What a map may hold; faults may hold any ``numbers``."""
extents = st.one_of(st.integers(0, 4), st.sampled_from([1, 1000, 2**40, 2**127 - 1]))
scales = st.sampled_from(
    [
        Fraction(1),
        Fraction(0),
        Fraction(1, 3),
        Fraction(-7),
        float("inf"),
        float("nan"),
        Fraction(1, 2**1000 + 1),
    ]
)
origins = st.none() | st.builds(Origin, names, st.sampled_from(["", "/map", "/params/a~1b"]))


@st.composite
def pieces(draw: st.DrawFn) -> Piece:
    shape = tuple(draw(st.lists(extents, max_size=3)))
    strides = st.tuples(*[held for _ in shape])
    source = StridedView(draw(held), shape, draw(strides))
    dest = StridedView(draw(held), shape, draw(strides))
    return Piece(source, dest, tuple(sorted(draw(st.sets(st.integers(0, 20), max_size=3)))), draw(scales))


@st.composite
def shard_maps(draw: st.DrawFn) -> ShardMap:
    shapes = st.lists(extents, max_size=3).map(tuple)
    shards = st.builds(RankShard, shapes, st.lists(pieces(), max_size=2).map(tuple))
    return ShardMap(
        name=draw(names),
        logical_shape=draw(shapes),
        ranks=draw(st.dictionaries(st.sampled_from([0, 1, 12]), shards, max_size=2)),
        origin=draw(origins),
    )


_places = st.tuples(st.sampled_from([0, 1, 12]), st.integers(-1, 2))
_visits = st.builds(
    Visit, st.sampled_from([0, 1, 12]), st.integers(-1, 2), st.lists(numbers, max_size=4).map(tuple)
)
_keys = st.sampled_from(
    [
        *("reached", "size", "lowest", "highest", "axis", "stride", "view", "scale", "unknown", "what"),
        *("value", "bits", "map", "file", "holder", "scales", "declared", "holders", "here", "there"),
        *("source", "dest", "expected", "unit", "writers", "descriptor", "stated", "found"),
        *("obligation", "reason"),
    ]
)
_values = st.one_of(
    numbers,
    names,
    st.lists(numbers, max_size=14).map(tuple),
    st.lists(names, max_size=3).map(tuple),
)


def _faults(consequences: st.SearchStrategy[tuple[Fault, ...]]) -> st.SearchStrategy[Fault]:
    return st.builds(
        Fault,
        code=st.sampled_from([code.code for code in CODES]),
        side=st.sampled_from(["shard", "parameter", "piece", "map"]),
        rank=st.none() | st.sampled_from([0, 1, 12]),
        pieces=st.lists(_places, max_size=3).map(tuple),
        address=st.none() | numbers,
        visits=st.lists(_visits, max_size=3).map(tuple),
        count=st.none() | st.builds(Count, st.integers(0, 10**30), st.booleans()),
        others=st.lists(numbers, max_size=14).map(tuple),
        values=st.dictionaries(_keys, _values, max_size=4),
        consequences=consequences,
        undecided=st.booleans(),
    )


faults = _faults(st.lists(_faults(st.just(())), max_size=1).map(tuple))


@st.composite
def spans(draw: st.DrawFn) -> Span:
    text = draw(names)
    column = draw(st.integers(1, len(text) + 1))
    return Span(draw(st.integers(1, 10**6)), column, draw(st.integers(column, len(text) + 1)), text)
