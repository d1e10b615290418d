"""Equal geometries are proved once: a checkpoint has the same layer a hundred times.

A proof answers only for maps that are to be judged in the same way: by the same engine, within one budget.

What an earlier run proved is taken from its cache only as a suggestion: the certificate is put together again
for the map at hand and has to be accepted by the independent checker. A cross-check takes none of it, for
nothing in a certificate shows what other engines said. Within a run equal maps pose equal questions, and each
is put to every engine once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256
from itertools import chain
from typing import Any

from verifier.audit.answering import Answering
from verifier.audit.families import by_family
from verifier.audit.judge import Judgement
from verifier.certificates.check import Rejected, check
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Cancellation, Form, Pairs
from verifier.diagnostics.report import Obligations
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.model.geometry_key import geometry_key
from verifier.model.shard_map import ShardMap
from verifier.obligations.catalogue import basic_obligations
from verifier.obligations.expectations import unit_obligations
from verifier.obligations.lints import lints
from verifier.obligations.piece_rules import RULES
from verifier.verdicts import Proved
from verifier.version import VERSION

MOST = 100_000
"""Geometries remembered; more are proved again."""

SOUND = Expectation()


@dataclass(slots=True)
class Proofs:
    """Judgements of maps that were proved and whose certificates were accepted.

    Within a run they are found by geometry, for maps of which nothing but soundness is asked. ``stored``
    finds what an earlier run left under a key, None when it is to be left alone; ``fresh`` is what this run
    adds. Without ``outcomes`` nobody asks for certificates, and equal maps share the first one's.
    """

    stored: Callable[[str], str | None] | None = None
    outcomes: bool = True
    fresh: dict[str, str] = field(default_factory=dict)
    _known: dict[Hashable, Judgement] = field(default_factory=dict)
    _tiled: set[Hashable] = field(default_factory=set)

    def of(self, shard_map: ShardMap, expectation: Expectation, answering: Answering) -> Judgement | None:
        """The judgement of an equal map that was judged in this way, as one of this map."""
        known = self._known.get(_geometry(shard_map, answering)) if expectation == SOUND else None
        if known is None or not isinstance(known.verdict, Proved):
            return self._from_stored(shard_map, expectation, answering)
        if not self.outcomes:
            return known
        return replace(known, verdict=Proved(replace(known.verdict.certificate, shard_map=shard_map)))

    def keep(
        self, shard_map: ShardMap, expectation: Expectation, answering: Answering, judgement: Judgement
    ) -> None:
        """Remember a proof whose certificate was accepted. Maps with warnings speak of themselves."""
        if not isinstance(judgement.verdict, Proved) or judgement.warnings:
            return
        if expectation == SOUND and len(self._known) < MOST:
            self._known[_geometry(shard_map, answering)] = judgement
        if self.stored is not None:
            certificate = judgement.verdict.certificate.to_json()
            self.fresh[_key(certificate, answering)] = json.dumps(
                {"evidence": certificate["evidence"], "answered_by": judgement.answered_by}, sort_keys=True
            )

    def is_tiled(self, boxes: BoxMap) -> bool:
        """Whether equal boxes were proved to tile their parameter, and the proof was accepted."""
        return geometry_key(boxes) in self._tiled

    def keep_tiled(self, boxes: BoxMap) -> None:
        """Remember boxes that tile their parameter."""
        if len(self._tiled) < MOST:
            self._tiled.add(geometry_key(boxes))

    def _from_stored(
        self, shard_map: ShardMap, expectation: Expectation, answering: Answering
    ) -> Judgement | None:
        if self.stored is None or answering.cross_check:
            return None
        statement = Certificate(shard_map, expectation).to_json()
        text = self.stored(_key(statement, answering))
        found = None if text is None else _confirmed(text, statement, shard_map, expectation)
        if found is not None and expectation == SOUND and len(self._known) < MOST:
            self._known[_geometry(shard_map, answering)] = found
        return found


def _geometry(shard_map: ShardMap, answering: Answering) -> Hashable:
    """What a proof of this run is found by. Engines have no equality, but are told apart by their names."""
    return geometry_key(shard_map), answering.engine.name, answering.budget, answering.cross_check


def _key(certificate: dict[str, Any], answering: Answering) -> str:
    """What a stored proof is found by: the statement, and what proved it."""
    proved_by = [VERSION, answering.engine.name, *astuple(answering.budget)]
    statement = [certificate["map"], certificate["expectation"]]
    return sha256(json.dumps([proved_by, statement], sort_keys=True).encode()).hexdigest()


def _confirmed(
    text: str, statement: dict[str, Any], shard_map: ShardMap, expectation: Expectation
) -> Judgement | None:
    """The judgement that a stored proof comes to; None when anything about it is not as it should be."""
    try:
        stored = json.loads(text)
        evidence, answered_by = stored["evidence"], Counter(stored["answered_by"])
        if check({**statement, "evidence": evidence}):
            return None
        forms = {name: _form(form) for name, form in evidence.items()}
    except (Rejected, ValueError, KeyError, TypeError, AttributeError):
        return None
    obligations = [*_obligations(shard_map, expectation)]
    names = [obligation.name for obligation in obligations]
    if any(type(n) is not int or n < 1 for n in answered_by.values()) or answered_by.total() != len(names):
        return None
    if [*lints(shard_map)]:
        return None
    complete = {name: forms.get(name, Cancellation()) for name in names}
    return Judgement(
        Proved(Certificate(shard_map, expectation, complete)),
        (),
        (),
        proved=len(names) + len(RULES),
        refuted=0,
        undecided=0,
        answered_by=dict(sorted(answered_by.items())),
        families=by_family(
            [(obligation.family, Obligations(proved=1)) for obligation in obligations],
            pieces=Obligations(proved=len(RULES)),
            expected=Obligations(),
        ),
    )


def _obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Any]:
    return chain(basic_obligations(shard_map, expectation), unit_obligations(shard_map, expectation))


def _form(value: dict[str, Any]) -> Form:
    """A form the checker accepted without assumptions."""
    return Pairs(value["work"]) if value["form"] == "pairs" else Cancellation()
