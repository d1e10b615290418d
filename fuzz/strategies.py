"""Hypothesis strategies for maps, expectations and documents, for tests of anything that takes shard maps.

    from hypothesis import given
    from fuzz import strategies

    @given(strategies.right_maps(size=60))
    def test_my_loader_takes_right_maps(posed):
        shard_map, expectation = posed
        assert my_loader(shard_map).is_complete

Whatever the campaigns can make is made here too: a layout or mutant is added in one place (``LAYOUTS``,
``MUTANTS``, ``DOCUMENT_MUTANTS``). Examples shrink to few pieces with small numbers. ``size`` bounds the
elements of a parameter.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st

from fuzz.cases import Case, Selection, compose
from fuzz.documents.mutants import DOCUMENT_MUTANTS, DocumentMutant, document_text, forms_of
from fuzz.dressing import dressed
from fuzz.layouts import LAYOUTS
from fuzz.mutants import MUTANTS
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece, Scale, exact_scale
from verifier.model.shard_map import ShardMap

SIZE = 48
WRITABLE = tuple(name for name in MUTANTS if name != "break-scale")
"""Infinite scales are no JSON."""
SCALES: tuple[Scale, ...] = (ONE, *map(exact_scale, (2.0, 0.5, -1.0, 0.1, 0.0, float("inf"))))

__all__ = [
    "BrokenDocument",
    "broken_documents",
    "cases",
    "documents",
    "expectations",
    "mutated_maps",
    "pieces",
    "right_maps",
    "strided_views",
]


def _randoms() -> st.SearchStrategy[random.Random]:
    """Random numbers that hypothesis chooses, one by one, and makes smaller."""
    return st.randoms(use_true_random=False)


@st.composite
def strided_views(
    draw: st.DrawFn,
    *,
    shape: Sequence[int] | None = None,
    max_axes: int = 3,
    max_extent: int = 4,
    max_offset: int = 20,
    max_stride: int = 12,
    negative: bool = False,
) -> StridedView:
    """Any views, of ``shape`` or of any; with ``negative`` also negative offsets and strides."""
    if shape is None:
        shape = draw(st.lists(st.integers(0, max_extent), max_size=max_axes))
    least = -1 if negative else 0
    strides = [draw(st.integers(least * max_stride, max_stride)) for _ in shape]
    return StridedView(draw(st.integers(least * max_offset, max_offset)), tuple(shape), tuple(strides))


@st.composite
def pieces(
    draw: st.DrawFn, *, ranks: Sequence[int] = (0, 1), max_axes: int = 3, max_extent: int = 4
) -> Piece:
    """Any pieces: two views of one shape, some of ``ranks`` as holders, some scale."""
    source = draw(strided_views(max_axes=max_axes, max_extent=max_extent))
    dest = draw(strided_views(shape=source.shape))
    holders = draw(st.lists(st.sampled_from(ranks), unique=True))
    return Piece(source, dest, tuple(sorted(holders)), draw(st.sampled_from(SCALES)))


@st.composite
def cases(draw: st.DrawFn, selection: Selection | None = None) -> Case:
    """What a campaign tries: maps of all layouts, dressed or plain, right or with one defect."""
    chosen = selection or Selection(size=SIZE)
    layout = draw(st.sampled_from(chosen.layouts))
    right = 1.0 if chosen.right >= 1 or (chosen.right > 0 and draw(st.booleans())) else 0.0
    if not right and chosen.mutants:
        chosen = replace(chosen, mutants=(draw(st.sampled_from(chosen.mutants)),))
    dress = chosen.dress and draw(st.booleans())
    case = compose(draw(_randoms()), replace(chosen, right=right, dress=dress), layout)
    assume(right or case.mutant is not None)
    return case


@st.composite
def right_maps(
    draw: st.DrawFn, *, layouts: Sequence[str] = tuple(LAYOUTS), size: int = SIZE
) -> tuple[ShardMap, Expectation]:
    """Maps that are right by construction, each with an expectation that it meets."""
    case = draw(cases(Selection(layouts=tuple(layouts), size=size, right=1.0)))
    return case.shard_map, case.expectation


@st.composite
def mutated_maps(
    draw: st.DrawFn,
    *,
    layouts: Sequence[str] = tuple(LAYOUTS),
    mutants: Sequence[str] = tuple(MUTANTS),
    size: int = SIZE,
) -> Case:
    """Maps with one defect, beside the map before it; what is expected includes that map's function."""
    selection = Selection(layouts=tuple(layouts), mutants=tuple(mutants), size=size, right=0.0)
    case = draw(cases(selection))
    return replace(case, expectation=replace(case.expectation, reference=case.clean))


@st.composite
def expectations(draw: st.DrawFn, shard_map: ShardMap) -> Expectation:
    """Demands and waivers of any kind for a map, which it may meet or not."""
    holes = {
        rank: draw(_addresses(shard.numel, 4))
        for rank, shard in shard_map.ranks.items()
        if draw(st.booleans())
    }
    reference = dressed(draw(_randoms()), shard_map) if draw(st.booleans()) else None
    lookup = draw(st.booleans())
    scales = [piece.scale for _, _, piece in shard_map.pieces()]
    finite = [scale for scale in scales if not isinstance(scale, float)]
    return Expectation(
        reference=reference,
        holes=holes,
        gaps=draw(_addresses(shard_map.numel, 4)),
        cover=not draw(st.booleans()),
        lookup=lookup,
        partial=not lookup and draw(st.booleans()),
        scale=draw(st.sampled_from([None, ONE, *finite])),
        index_bits=64 - draw(st.integers(0, 62)),
        write_unit=None if lookup else draw(st.sampled_from((None, 1, 2, 3, 4))),
    )


def _addresses(size: int, most: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Up to so many addresses, one beyond the end among them."""
    return st.lists(st.integers(0, size), unique=True, max_size=most).map(lambda found: tuple(sorted(found)))


@st.composite
def documents(draw: st.DrawFn, *, size: int = SIZE) -> bytes:
    """JSON documents that carry maps, right or with one defect, in every form that is read."""
    case = draw(cases(Selection(mutants=WRITABLE, size=size)))
    return document_text(draw(st.sampled_from(forms_of(case))))


@dataclass(frozen=True, slots=True)
class BrokenDocument:
    """A document with one defect.

    Attributes:
        mutant: which one.
        original: what it was before.
    """

    mutant: DocumentMutant
    original: bytes
    data: bytes


@st.composite
def broken_documents(
    draw: st.DrawFn, *, mutants: Sequence[str] = tuple(DOCUMENT_MUTANTS), size: int = SIZE
) -> BrokenDocument:
    """JSON documents with one defect, most of which no reader may take."""
    mutant = DOCUMENT_MUTANTS[draw(st.sampled_from(mutants))]
    original = draw(documents(size=size))
    data = mutant(draw(_randoms()), original)
    assume(data is not None)
    return BrokenDocument(mutant, original, data or b"")
