"""What every family of narrations works from and hands back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from verifier.diagnostics.finding import Equation, Label
from verifier.diagnostics.holders import (
    RANK,
    block_text,
    holders_of,
    is_block,
    piece_phrase,
    shard_phrase,
)
from verifier.diagnostics.sides import NEITHER, Sides
from verifier.diagnostics.snippets import Locate, Member, piece_label, value_label
from verifier.diagnostics.wording import (
    counted,
    element_text,
    listing,
    number,
    shape_text,
    short_scales,
    sum_text,
)
from verifier.geometry.strided import coordinates
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault, Value, Visit

_TEXT_LENGTH = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The parts of a finding that differ from code to code. See ``Finding`` for their meaning.

    ``sides`` has the picture and the one of the other side.
    """

    headline: str
    concise: str
    labels: tuple[Label, ...] = ()
    claim: str = ""
    equations: tuple[Equation, ...] = ()
    tally: str = ""
    sides: Sides = NEITHER
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fault together with the map it is about. Every accessor tolerates faults that point nowhere."""

    shard_map: ShardMap
    fault: Fault
    locate: Locate | None = None
    expectation: Expectation = field(default_factory=Expectation)

    @property
    def rank(self) -> int | None:
        """The rank it happens on, or that of the culprit."""
        if self.fault.rank is not None or not self.fault.pieces:
            return self.fault.rank
        return self.fault.pieces[-1][0]

    @property
    def shard(self) -> RankShard | None:
        """The shard of that rank."""
        return None if self.rank is None else self.shard_map.ranks.get(self.rank)

    @property
    def rank_phrase(self) -> str:
        """``rank 0``, ``chunk 3``, or ``the map``."""
        return "the map" if self.rank is None else self.holders((self.rank,))

    @property
    def holder(self) -> str:
        """What people call a rank of this map."""
        return self.shard_map.holder

    def holders(self, ranks: Sequence[int]) -> str:
        """``no rank``, ``rank 3``, ``chunks 0, 1``."""
        return holders_of(self.shard_map, ranks)

    @property
    def of_blocks(self) -> bool:
        """Whether everything at fault is a stored block: blocks declare no replicas and know no locations."""
        return bool(self.fault.pieces) and all(
            is_block(self.shard_map, rank) for rank, _ in self.fault.pieces
        )

    def piece(self, rank: int, position: int) -> Piece | None:
        """One piece of the map, None where the fault points nowhere."""
        shard = self.shard_map.ranks.get(rank)
        if shard is None or not 0 <= position < len(shard.pieces):
            return None
        return shard.pieces[position]

    def piece_phrase(self, place: tuple[int, int]) -> str:
        """``piece 1``, with its rank where pieces of several ranks are at fault."""
        rank, position = place
        alone = {rank for rank, _ in self.fault.pieces} <= {self.fault.rank}
        if alone and rank == self.fault.rank and not is_block(self.shard_map, rank):
            return f"piece {position}"
        return piece_phrase(self.shard_map, rank, position)

    @property
    def culprit(self) -> str:
        """The last piece at fault with its rank, or the rank, or the map."""
        if not self.fault.pieces:
            return self.rank_phrase
        return piece_phrase(self.shard_map, *self.fault.pieces[-1])

    def integer(self, key: str) -> int | None:
        """A value that should be an integer."""
        value = self.fault.values.get(key)
        return value if isinstance(value, int) else None

    def integers(self, key: str) -> tuple[int, ...]:
        """A value that should be a tuple of integers; empty where it is not."""
        value = self.fault.values.get(key)
        if not isinstance(value, tuple):
            return ()
        return tuple([item for item in value if isinstance(item, int)])

    def texts(self, key: str) -> tuple[str, ...]:
        """A value that should be a tuple of texts; empty where it is not."""
        value = self.fault.values.get(key)
        return tuple([item for item in value if isinstance(item, str)]) if isinstance(value, tuple) else ()

    def text(self, key: str) -> str:
        """A value as words of bounded length; ``?`` where it is missing."""
        return value_text(self.fault.values.get(key, "?"))

    def scales(self, key: str) -> str:
        """Like ``text``, for words with scales in them, which may be fractions of hundreds of digits."""
        value = self.fault.values.get(key, "?")
        texts = value if isinstance(value, tuple) else (value,)
        short = [short_scales(text) if isinstance(text, str) else number(text) for text in texts]
        return value_text(tuple(short)) if isinstance(value, tuple) else value_text(short[0])

    def listed(self, key: str) -> str:
        """Like ``scales``, with a shape or ranks in brackets: in a sentence it is seen where they end."""
        numbers = self.integers(key)
        return f"[{listing_of(numbers)}]" if numbers else self.scales(key)

    def label(
        self, place: tuple[int, int], member: Member | None, text: str, *, primary: bool = True
    ) -> tuple[Label, ...]:
        """A label on one member of a piece, or on all of it; none where the fault points nowhere.

        A stored block is shown by its box: no document has the piece it became.
        """
        piece = self.piece(*place)
        if piece is None:
            return ()
        if is_block(self.shard_map, place[0]):
            box = block_text(self.shard_map, place[0], piece)
            return () if box is None else self.block_label(box, text, primary=primary)
        origin = self.shard_map.piece_origin(*place)
        return (piece_label(origin, self.locate, piece=piece, member=member, text=text, primary=primary),)

    def block_label(self, box: str, text: str, *, primary: bool = True) -> tuple[Label, ...]:
        """A label on a stored block, which ``box`` describes; where its document says so is not known."""
        return (value_label(self.shard_map.origin, None, fallback=box, text=text, primary=primary),)

    def culprit_label(self, member: Member | None, text: str) -> tuple[Label, ...]:
        """A label on one member of the last piece at fault; none where no piece is."""
        return self.label(self.fault.pieces[-1], member, text) if self.fault.pieces else ()

    def shard_label(self, text: str) -> tuple[Label, ...]:
        """A label on the shard_shape of the rank; where holders are no ranks, no member has that name."""
        if self.shard is None or self.rank is None:
            return ()
        origin = self.shard_map.origin
        fallback = f'"shard_shape": {element_text(self.shard.shard_shape)}'
        if self.holder != RANK:
            fallback = (
                f"{shard_phrase(self.shard_map, self.rank)}: shape {element_text(self.shard.shard_shape)}"
            )
        elif origin is not None:
            origin = origin.child("ranks", self.rank, "shard_shape")
        return (value_label(origin, self.locate, fallback=fallback, text=text, primary=True),)

    def parameter_label(self, text: str) -> tuple[Label, ...]:
        """A label on the logical_shape of the map."""
        origin = self.shard_map.origin
        fallback = f'"logical_shape": {element_text(self.shard_map.logical_shape)}'
        if self.holder != RANK:
            fallback = f"shape {element_text(self.shard_map.logical_shape)}"
        elif origin is not None:
            origin = origin.child("logical_shape")
        return (value_label(origin, self.locate, fallback=fallback, text=text, primary=True),)

    def shard_element(self, address: int) -> str:
        """``shard element [0, 1]``, or the bare address where it is outside the shard."""
        shape = None if self.shard is None else self.shard.shard_shape
        return _element("shard", address, shape)

    def parameter_element(self, address: int) -> str:
        """``parameter element [0, 1]``, or the bare address where it is outside the parameter."""
        return _element("parameter", address, self.shard_map.logical_shape)

    def equation(self, visit: Visit, side: str, *, so: str | None = None) -> Equation | None:
        """How a visit reaches its address. ``so`` replaces the remark about the other side."""
        piece = self.piece(visit.rank, visit.piece)
        if piece is None or len(visit.index) != len(piece.shape):
            return None
        here, there = (piece.dest, piece.source) if side == "shard" else (piece.source, piece.dest)
        return Equation(
            f"{self.piece_phrase((visit.rank, visit.piece))} at index {shape_text(visit.index)}",
            sum_text(here, visit.index),
            self._carries(side, visit.rank, there.address(visit.index)) if so is None else so,
        )

    def _carries(self, side: str, rank: int, address: int) -> str:
        if side == "shard":
            return f"carries {self.parameter_element(address)}"
        shard = self.shard_map.ranks.get(rank)
        place = _element("shard", address, None if shard is None else shard.shard_shape)
        holder = self.holders((rank,))
        if is_block(self.shard_map, rank):
            return f"is {place.removeprefix('shard ')} of {holder}"
        return f"goes to {place} of {holder}"

    def equations(self, side: str) -> tuple[Equation, ...]:
        """The equations of all visits."""
        found = (self.equation(visit, side) for visit in self.fault.visits)
        return tuple([equation for equation in found if equation is not None])

    def tally(self, noun: str) -> str:
        """``smallest of 4 clashes: addresses 1, 5, 9, 13``; empty for a single one, or if nobody counted.

        Whether it is the smallest is known only where all of them were counted.
        """
        count, others = self.fault.count, self.fault.others
        if count is None or (count.exact and count.number <= 1):
            return ""
        head = f"{'smallest of' if count.exact else 'one of at least'} {counted(count.number, noun)}"
        if not others:
            return head
        total = count.number if count.exact else len(others) + 1
        return f"{head}: {'' if noun.endswith('address') else 'addresses '}{listing(others, total)}"

    @property
    def all_listed(self) -> bool:
        """Whether the fault lists every address that has it, so that a help may name them."""
        count = self.fault.count
        return count is not None and count.exact and 0 < count.number == len(self.fault.others)

    @property
    def volume_note(self) -> tuple[str, ...]:
        """The remark that counting elements cannot see this, where it is true."""
        shard = self.shard
        if shard is None:
            return ()
        carried = [piece.numel for piece in shard.pieces]
        if sum(carried) != shard.numel or not carried:
            return ()
        if 1 < len(carried) <= 4:
            total = f"the volumes add up ({' + '.join(map(number, carried))} = {number(shard.numel)})"
        else:
            total = f"the pieces carry {counted(shard.numel, 'element')}, as many as the shard has"
        return (f"{total}, so comparing element counts cannot see this",)


def value_text(value: Value) -> str:
    """A value of a fault as words of bounded length."""
    match value:
        case int():
            return number(value)
        case tuple():
            return listing_of(value)
        case _:
            return value if len(value) <= _TEXT_LENGTH else f"{value[:_TEXT_LENGTH]}..."


def listing_of(values: tuple[int, ...] | tuple[str, ...]) -> str:
    """The members of a tuple with commas, a dozen at most."""
    shown = [number(value) if isinstance(value, int) else value[:_TEXT_LENGTH] for value in values[:12]]
    return ", ".join(shown + (["..."] if len(values) > 12 else []))


def addresses_phrase(size: int) -> str:
    """The addresses of a buffer of ``size`` elements: ``addresses 0 to 15``."""
    return "no addresses" if size <= 0 else f"addresses 0 to {number(size - 1)}"


def _element(space: str, address: int, shape: tuple[int, ...] | None) -> str:
    if shape is None or not 0 <= address < math.prod(shape):
        return f"{space} address {number(address)}"
    return f"{space} element {element_text(coordinates(address, shape))}"
