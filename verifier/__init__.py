"""Prove or refute shard maps: how tensors are cut over ranks, and put together again.

>>> from verifier import check_map, load
>>> report = check_map(load("map.json")[0])  # doctest: +SKIP
>>> report.raise_if_not_proved()  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verifier.audit.check import check_map
    from verifier.audit.compare import same_function
    from verifier.budget import Budget
    from verifier.diagnostics.finding import Finding
    from verifier.diagnostics.report import NotProved, Report
    from verifier.formats import FormatError
    from verifier.gate.declared import constructor
    from verifier.geometry.strided import StridedView
    from verifier.model.expectation import Expectation
    from verifier.model.piece import Piece
    from verifier.model.shard_map import RankShard, ShardMap
    from verifier.symbolic.domain import Sizes, fixed, size, sizes
    from verifier.verdicts import Proved, Refuted, Undecided, Verdict

__all__ = [
    "Budget",
    "Expectation",
    "Finding",
    "FormatError",
    "NotProved",
    "Piece",
    "Proved",
    "RankShard",
    "Refuted",
    "Report",
    "ShardMap",
    "Sizes",
    "StridedView",
    "Undecided",
    "Verdict",
    "check_map",
    "constructor",
    "fixed",
    "load",
    "map_from_affine",
    "same_function",
    "size",
    "sizes",
]

_HOMES = {
    "Budget": "budget",
    "Expectation": "model.expectation",
    "Finding": "diagnostics.finding",
    "FormatError": "formats",
    "NotProved": "diagnostics.report",
    "Piece": "model.piece",
    "Proved": "verdicts",
    "RankShard": "model.shard_map",
    "Refuted": "verdicts",
    "Report": "diagnostics.report",
    "ShardMap": "model.shard_map",
    "Sizes": "symbolic.domain",
    "StridedView": "geometry.strided",
    "Undecided": "verdicts",
    "Verdict": "verdicts",
    "check_map": "audit.check",
    "constructor": "gate.declared",
    "fixed": "symbolic.domain",
    "same_function": "audit.compare",
    "size": "symbolic.domain",
    "sizes": "symbolic.domain",
}


def __getattr__(name: str) -> object:
    """The public names, imported when they are first used: a command should not pay for all of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def map_from_affine(document: object, *, name: str = "map") -> ShardMap:
    """A map from DeepSpeed's affine form: what ``ParamAffineMap.to_dict()`` returns, or its JSON.

    Raises:
        FormatError: the form is broken; numbers are never coerced.
    """
    from verifier.formats.maps.affine import decode_map
    from verifier.formats.reading.fields import Interned
    from verifier.formats.reading.limits import Limits
    from verifier.model.origin import Origin

    return decode_map(document, name=name, origin=Origin(name), limits=Limits(), interned=Interned())


def load(path: str | Path) -> list[ShardMap]:
    """Every map of a file or checkpoint directory, in the order of the document.

    Raises:
        FormatError: the document, or one of its maps, cannot be read; nothing is returned by halves.
    """
    from verifier.formats import FormatError, read

    document = read(Path(path))
    for refusal in document.refusals:
        raise FormatError(refusal.code, refusal.message, refusal.origin, help=refusal.help)
    return list(document.maps)
