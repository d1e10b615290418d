"""From a failed question to a fault: which pieces, by which indices, at which element.

Only the pieces that reach the least wrong address are looked up; the map is never walked.

Theory: T3 to T5 (the least wrong address), T14 (indices that reach an address).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from verifier.answers import Defect, Fails, Unknown
from verifier.audit.answering import Answered
from verifier.audit.census import AT_LEAST_ONE, Tally, parameter_tallies, shard_tallies
from verifier.audit.holders import Holding, wrong_at
from verifier.geometry.diophantine import indices_at
from verifier.geometry.equations import TooHard
from verifier.geometry.strided import StridedView, coordinates
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE, Piece
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault, Side, Value, Visit

UNIT_LISTED = 4096
"""Largest storage unit whose elements are looked up one by one for their writers."""
NODES = 1_000_000
"""Search nodes for the indices by which one piece reaches one address."""


class Diagnosis:
    """Faults of one map under one expectation."""

    def __init__(self, shard_map: ShardMap, expectation: Expectation) -> None:
        self._map = shard_map
        self._expectation = expectation

    def faults(self, answered: Answered) -> Iterator[Fault]:
        """The faults of one answered obligation: none when it holds, one when it fails or is open."""
        obligation = answered.obligation
        for disagreement in answered.disagreements:
            yield Fault(
                code="TB101",
                side="map",
                rank=obligation.rank,
                values={"obligation": obligation.name, "reason": disagreement},
            )
        match answered.answer:
            case Unknown(code, reason):
                yield Fault(
                    code=code,
                    side="map",
                    rank=obligation.rank,
                    values={"obligation": obligation.name, "reason": reason},
                    undecided=True,
                )
            case Fails(defect, engine):
                yield self._fault(answered, defect, engine)

    def _fault(self, answered: Answered, defect: Defect, engine: str) -> Fault:
        obligation = answered.obligation
        if defect.place is None:
            return self._unlocated(answered, engine)
        rank = obligation.rank
        match obligation.family:
            case "shard":
                return self._shard_fault(_known(rank), defect.place[0], defect.excess)
            case "holders" | "parameter":
                return self._parameter_fault(defect.place[0])
            case "reference":
                return self.reference_fault(_known(rank), (defect.place[0], defect.place[1]))
            case "unit":
                return self._unit_fault(defect.place[0])

    def _unlocated(self, answered: Answered, engine: str) -> Fault:
        """The engine knows that the obligation fails but not where."""
        obligation = answered.obligation
        codes = {
            "shard": "SM201",
            "holders": "SM402",
            "parameter": "SM301",
            "reference": "SM501",
            "unit": "SM506",
        }
        code = codes[obligation.family]
        if obligation.family == "shard" and obligation.rank is not None:
            shard = self._map.ranks[obligation.rank]
            if sum(piece.numel for piece in shard.pieces) < shard.numel:
                code = "SM203"
        return Fault(
            code=code,
            side="map",
            rank=obligation.rank,
            values={"obligation": obligation.name, "reason": f"{engine} refutes it without naming a place"},
        )

    def _shard_fault(self, rank: int, address: int, excess: int | None) -> Fault:
        shard = self._map.ranks[rank]
        visits = self._visits_on_shard(rank, address)
        inside = 0 <= address < shard.numel
        if not inside:
            code = "SM101"
        elif excess is not None and excess < 0:
            code = "SM203"
        elif len(visits) > 1 and visits[0].piece == visits[1].piece:
            code = "SM202"
        else:
            code = "SM201"
        tallies = shard_tallies(self._map, rank, self._expectation)
        count, others = tallies.get(code, AT_LEAST_ONE)
        return Fault(
            code=code,
            side="shard",
            rank=rank,
            pieces=_pieces(visits),
            address=address,
            visits=visits,
            count=count,
            others=others or (address,),
            values={"size": shard.numel, "reached": address},
            consequences=_other_faults(tallies, code, "shard", rank),
        )

    def _visits_on_shard(self, rank: int, address: int) -> tuple[Visit, ...]:
        """The first two visits of a shard address."""
        visits: list[Visit] = []
        for position, piece in enumerate(self._map.ranks[rank].pieces):
            visits += [Visit(rank, position, index) for index in _indices(piece.dest, address, 2)]
            if len(visits) >= 2:
                break
        return tuple(visits[:2])

    def holdings(self, element: int) -> list[Holding]:
        """Every visit of a parameter element, in rank and piece order; at most two by one piece."""
        return [
            Holding(Visit(rank, position, index), piece)
            for rank, position, piece in self._map.pieces()
            for index in _indices(piece.source, element, 2)
        ]

    def _parameter_fault(self, element: int) -> Fault:
        size = self._map.numel
        holdings = self.holdings(element)
        if not 0 <= element < size:
            visits = tuple(h.visit for h in holdings[:1])
            return Fault(
                code="SM102",
                side="parameter",
                rank=visits[0].rank if visits else None,
                pieces=_pieces(visits),
                address=element,
                visits=visits,
                values={"reached": element, "size": size},
            )
        needed = self._expectation.cover and element not in self._expectation.gaps
        wrong = wrong_at(holdings, needed=needed, scales_agree=not self._expectation.partial)
        if wrong is None:
            return self._unexplained(element)
        tallies = self._parameter_tallies
        count, others = tallies.get(wrong.code, AT_LEAST_ONE)
        if others and others[0] < element:  # one obligation fails here, but the fault itself begins earlier
            return self._parameter_fault(others[0])
        visits = tuple(holding.visit for holding in wrong.holdings)
        return Fault(
            code=wrong.code,
            side="parameter",
            rank=visits[-1].rank if visits else None,
            pieces=_pieces(visits),
            address=element,
            visits=visits,
            count=count,
            others=others or (element,),
            values={**wrong.values, "size": size},
            consequences=_other_faults(tallies, wrong.code, "parameter", None),
        )

    def _unexplained(self, element: int) -> Fault:
        """An engine refuted an element that looks right when its holders are listed: a fault of the tool."""
        return Fault(
            code="TB101",
            side="parameter",
            address=element,
            values={
                "obligation": "parameter",
                "reason": f"element {element} was refuted, but its holders are the declared ones",
            },
        )

    @cached_property
    def _parameter_tallies(self) -> Mapping[str, Tally]:
        return parameter_tallies(self._map, self._expectation)

    def reference_fault(self, rank: int, pair: tuple[int, int]) -> Fault:
        """The first pair that one of two maps has and the other has not (SM501)."""
        reference = self._expectation.reference
        if reference is None:
            raise ValueError("there is no reference to differ from")
        source, dest = pair
        here, visits = _content(self._map, rank, dest)
        there, _ = _content(reference, rank, dest)
        if here == there:  # the pair stands more often on one side
            here, there = f"{here}, more or less often", f"{there} once"
        return Fault(
            code="SM501",
            side="shard",
            rank=rank,
            pieces=_pieces(visits),
            address=dest,
            visits=visits,
            values={"here": here, "there": there, "source": source, "dest": dest},
        )

    def _unit_fault(self, element: int) -> Fault:
        """Two ranks write to the storage unit in which one of them begins or ends (SM506).

        Where elements may be held by nobody, one rank may end inside a unit and be its only writer.
        """
        unit = self._expectation.write_unit
        if unit is None:
            raise ValueError("there is no storage unit")
        first = element - element % unit
        beside = (element - 1, element)
        elements = range(first, min(first + unit, self._map.numel)) if unit <= UNIT_LISTED else beside
        writers = {h.visit.rank: h.visit for at in (*beside, *elements) for h in self.holdings(at)[:1]}
        visits = tuple(writers.values())[:2]
        if len(writers) < 2:
            reason = f"unit {element // unit} has one writer but is not written as a whole"
            values: dict[str, Value] = {"obligation": "storage units", "reason": reason}
            return Fault(code="SM901", side="parameter", address=element, values=values, undecided=True)
        return Fault(
            code="SM506",
            side="parameter",
            rank=visits[-1].rank if visits else None,
            pieces=_pieces(visits),
            address=element,
            visits=visits,
            values={"unit": unit, "writers": tuple(sorted(writers))},
        )


def _other_faults(tallies: Mapping[str, Tally], code: str, side: Side, rank: int | None) -> tuple[Fault, ...]:
    """What else is wrong on the same side, at greater addresses."""
    return tuple(
        Fault(code=other, side=side, rank=rank, address=others[0], count=count, others=others)
        for other, (count, others) in sorted(tallies.items())
        if other != code and others
    )


def _known(rank: int | None) -> int:
    if rank is None:
        raise ValueError("this obligation is about one rank")
    return rank


def _pieces(visits: tuple[Visit, ...]) -> tuple[tuple[int, int], ...]:
    return tuple(dict.fromkeys((visit.rank, visit.piece) for visit in visits))


def _indices(view: StridedView, address: int, limit: int) -> tuple[tuple[int, ...], ...]:
    if view.is_empty or not view.lowest <= address <= view.highest:
        return ()
    found = indices_at(view, address, limit=limit, nodes=NODES)
    return () if isinstance(found, TooHard) else found


def _content(shard_map: ShardMap, rank: int, dest: int) -> tuple[str, tuple[Visit, ...]]:
    """What a map puts at a shard address, in words, and by which visits."""
    shard = shard_map.ranks[rank]
    for position, piece in enumerate(shard.pieces):
        for index in _indices(piece.dest, dest, 1):
            return _element_text(shard_map, piece, index), (Visit(rank, position, index),)
    return "nothing", ()


def _element_text(shard_map: ShardMap, piece: Piece, index: tuple[int, ...]) -> str:
    address = piece.source.address(index)
    element = list(coordinates(address, shard_map.logical_shape))
    text = f"element {element}" if 0 <= address < shard_map.numel else f"parameter address {address}"
    return text if piece.scale == ONE else f"{text} times {piece.scale}"
