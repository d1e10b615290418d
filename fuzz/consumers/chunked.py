"""Cases as software sees them that knows a parameter by its chunks: boxes, each saved by one rank."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fuzz.build import piece, shard_map
from fuzz.cases import Case
from fuzz.consumers.boxes import Box, Chunk, Misfilled, NoBox, chunks_of, misfilled
from fuzz.consumers.classes import Class
from fuzz.consumers.judging import ask_prover, compare_parameter_side, key_of, record
from fuzz.consumers.strict import Attempt
from fuzz.outcomes import Tally
from verifier.geometry.strided import INT64_MAX, row_major
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

Chunks = tuple[Chunk, ...]
Defect = Callable[[random.Random, Sequence[int], Chunks], Chunks | None]
"""Chunks of a parameter of that shape with one fault; None where they cannot have it."""

STEPS = (-2, -1, -1, 1, 1, 2)


@dataclass(frozen=True, slots=True)
class Inexpressible:
    """A case cannot be said in chunks, for a reason in a few words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Chunked:
    """A case and its chunks, at least one.

    Where no map says what the chunks say, the case has the map before the defect.

    Attributes:
        clean: the chunks before the defect.
        wrong: the least element that the chunks do not fill once, by a walk; None where they are right.
    """

    case: Case
    clean: Chunks
    chunks: Chunks
    wrong: Misfilled | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the parameter."""
        return self.case.shard_map.logical_shape

    @property
    def boxes(self) -> list[Box]:
        """Of the chunks."""
        return [chunk.box for chunk in self.chunks]

    def judge(self, tally: Tally, operation: str, attempt: Attempt) -> None:
        """Count what was made of the chunks, and ask our prover about what was taken though wrong."""
        key = key_of(self.case, operation, _kind(self.wrong, self.shape))
        if attempt.klass is Class.SILENT and self.wrong is not None:
            words = f"accepted, though {_said(self.wrong, self.shape)}"
            if self._is_its_map():
                ask_prover(tally, self.case, operation)
            else:
                (box,) = {chunk.box for chunk in self.chunks} - {chunk.box for chunk in self.clean}
                words += f", by a chunk of {list(box.sizes)} at {list(box.offsets)}"
            attempt = replace(attempt, words=words)
        record(tally, self.case, operation, attempt, key)

    def compare(self, tally: Tally) -> None:
        """Hold our prover against the walk of the boxes."""
        if self._is_its_map():
            compare_parameter_side(tally, self.case, filled_once=self.wrong is None)

    def _is_its_map(self) -> bool:
        """Whether the map says what the chunks say: a box that reaches out of a row is another view."""
        return chunks_of(self.case.shard_map) == self.chunks


def chunked(case: Case) -> tuple[Chunked, ...] | Inexpressible:
    """The case in chunks, and with a defect in one chunk where its map has none; or why it has no chunks."""
    if case.expectation.lookup or case.expectation.gaps or not case.expectation.cover:
        return Inexpressible("elements that nobody needs to hold")
    clean, chunks = (_expressed(shard_map) for shard_map in (case.clean, case.shard_map))
    if isinstance(clean, Inexpressible):
        return clean
    if isinstance(chunks, Inexpressible):
        return chunks
    if clean == chunks and case.clean.logical_shape == case.shard_map.logical_shape:
        case = replace(case, mutant=None, clean=case.shard_map)  # the defect is where chunks do not look
    itself = _walked(case, clean, chunks)
    return (itself,) if case.mutant is not None else (itself, *_corrupted(case, chunks))


def _expressed(shard_map: ShardMap) -> Chunks | Inexpressible:
    found = chunks_of(shard_map)
    if isinstance(found, NoBox):
        return Inexpressible(found.reason)
    if not found:
        return Inexpressible("no chunk at all")
    if any(abs(number) > INT64_MAX for chunk in found for number in chunk.box.offsets):
        return Inexpressible("past 64 bits")
    return found


def _said(wrong: Misfilled, shape: Sequence[int]) -> str:
    if _is_outside(wrong, shape):
        return f"element {list(wrong.element)} is outside of the parameter"
    return f"element {list(wrong.element)} lies in {wrong.boxes or 'none'} of the chunks"


def _kind(wrong: Misfilled | None, shape: Sequence[int]) -> str:
    """What is said of chunks, without its numbers."""
    if wrong is None:
        return "right chunks"
    if _is_outside(wrong, shape):
        return "an element outside"
    return "an element in several chunks" if wrong.boxes else "an element in no chunk"


def _is_outside(wrong: Misfilled, shape: Sequence[int]) -> bool:
    return not all(0 <= index < extent for index, extent in zip(wrong.element, shape, strict=True))


def map_of(shape: Sequence[int], chunks: Sequence[Chunk], name: str) -> ShardMap:
    """A map with one piece for each chunk; a shard is its pieces one after another."""
    held: dict[int, list[Piece]] = {chunk.rank: [] for chunk in chunks}
    sizes = dict.fromkeys(held, 0)
    for chunk in chunks:
        view = chunk.box.view(shape)
        dest = sizes[chunk.rank], row_major(view.shape)
        held[chunk.rank].append(piece(view.shape, (view.offset, view.strides), dest, [chunk.rank]))
        sizes[chunk.rank] += view.numel
    return shard_map(shape, {rank: ([sizes[rank]], pieces) for rank, pieces in held.items()}, name)


def _walked(case: Case, clean: Chunks, chunks: Chunks) -> Chunked:
    boxes = [chunk.box for chunk in chunks]
    return Chunked(case, clean, chunks, misfilled(boxes, case.shard_map.logical_shape))


def _corrupted(case: Case, clean: Chunks) -> tuple[Chunked, ...]:
    """The chunks with the first defect, in random order, that they can have."""
    rng = random.Random(f"{case.name}:chunks")
    shape = case.shard_map.logical_shape
    for name in rng.sample(sorted(DEFECTS), len(DEFECTS)):
        chunks = DEFECTS[name](rng, shape, clean)
        if chunks is not None and chunks != clean:
            before, after = (map_of(shape, found, case.name) for found in (clean, chunks))
            read = chunks_of(after)
            if not isinstance(read, NoBox) and _filled(read) == _filled(chunks):
                chunks = read
            else:  # no map says what they say, but the name of the case makes them again
                after = before
            changed = replace(case, mutant=name, clean=before, shard_map=after, expectation=Expectation())
            return (_walked(changed, clean, chunks),)
    return ()


def _filled(chunks: Chunks) -> Counter[Chunk]:
    return Counter(chunk for chunk in chunks if not chunk.box.is_empty)


def _chosen(rng: random.Random, chunks: Chunks) -> int | None:
    """The place of a chunk that carries something."""
    places = [at for at, chunk in enumerate(chunks) if not chunk.box.is_empty]
    return rng.choice(places) if places else None


def _of_one_number(change: Callable[[random.Random, Box, int], Box]) -> Defect:
    """A defect in one axis of one chunk."""

    def defect(rng: random.Random, shape: Sequence[int], chunks: Chunks) -> Chunks | None:
        at = _chosen(rng, chunks)
        if at is None or not shape:
            return None
        box = change(rng, chunks[at].box, rng.randrange(len(shape)))
        return (*chunks[:at], replace(chunks[at], box=box), *chunks[at + 1 :])

    return defect


def _moved(rng: random.Random, box: Box, axis: int) -> Box:
    offset = box.offsets[axis] + rng.choice(STEPS)
    return replace(box, offsets=(*box.offsets[:axis], offset, *box.offsets[axis + 1 :]))


def _resized(rng: random.Random, box: Box, axis: int) -> Box:
    size = max(0, box.sizes[axis] + rng.choice(STEPS))
    return replace(box, sizes=(*box.sizes[:axis], size, *box.sizes[axis + 1 :]))


def _dropped(rng: random.Random, shape: Sequence[int], chunks: Chunks) -> Chunks | None:
    at = _chosen(rng, chunks)
    return None if at is None or len(chunks) < 2 else chunks[:at] + chunks[at + 1 :]


def _duplicated(rng: random.Random, shape: Sequence[int], chunks: Chunks) -> Chunks | None:
    """A chunk that some rank saves too, as when replicas are not dropped."""
    at = _chosen(rng, chunks)
    return None if at is None else (*chunks, replace(chunks[at], rank=rng.choice(chunks).rank))


def _with_empty(rng: random.Random, shape: Sequence[int], chunks: Chunks) -> Chunks | None:
    """One more chunk, of no elements and in bounds: what is left of an axis shorter than its ranks."""
    if not shape:
        return None
    axis = rng.randrange(len(shape))
    sizes = [rng.randint(0, extent) for extent in shape]
    sizes[axis] = 0
    offsets = [rng.randint(0, extent - size) for extent, size in zip(shape, sizes, strict=True)]
    empty = Chunk(rng.choice(chunks).rank, Box(tuple(offsets), tuple(sizes)))
    at = rng.randint(0, len(chunks))
    return (*chunks[:at], empty, *chunks[at:])


DEFECTS: dict[str, Defect] = {
    "chunk-offset": _of_one_number(_moved),
    "chunk-size": _of_one_number(_resized),
    "chunk-dropped": _dropped,
    "chunk-duplicated": _duplicated,
    "empty-chunk": _with_empty,
}
"""Faults of chunks by name. An empty chunk is none: whoever refuses it refuses what is right."""
