"""What a replay found, as data. Free of torch, so that reports can read it anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from verifier.oracle.errors import MalformedRequestError

Outcome = Literal["exact", "differs", "unwritten", "raises", "replicas-differ", "skipped"]
"""In order of precedence: skipped, raises, differs, unwritten, replicas-differ, exact."""

Content = int | float | None
"""What an element holds: a parameter address, or a value where scales took part, or None for memory
that nobody wrote."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Two ranks brought different bits for one element that is declared to have several holders.

    Attributes:
        address: the least such parameter address of the first piece that disagreed.
        earlier: the rank whose value stood there.
        later: the rank that brought another one.
    """

    address: int
    earlier: int
    later: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What came of cutting a known parameter through a map and rebuilding it.

    ``changed`` and ``unwritten`` count different elements. ``holes``, ``rewritten`` and ``repeated`` describe
    the memory and need not show in the values: a map that writes one element twice to one cell loses nothing.

    Attributes:
        outcome: "exact" when every element came back, no memory stayed unwritten and the replicas agreed.
        device: where it ran, as torch names it.
        torch_version: the torch that ran it; empty when none did.
        dtype: the dtype that was carried; float64 whenever scales take part.
        total: elements of the parameter; of all shards for a lookup table, whose shards are compared instead.
        changed: elements that came back as something else.
        unwritten: elements that came back from memory nobody wrote, waived ones apart.
        first: (address, what it was, what came back) of the least element that did not come back. For a
            lookup table (shard address, what the reference puts there, what the map puts there).
        first_rank: the rank whose shard ``first`` is about, None for an element of the parameter.
        holes: shard cells that no piece writes, declared ones apart, over all ranks.
        rewritten: shard cells written more than once, over all ranks.
        repeated: (rank, element) pairs where the rank holds the element more than once; not counted for a
            lookup table.
        drift: replicas that disagree, None when they agree.
        error: place and first line of what torch said when it refused.
        reason: why nothing ran, or what the reader should know about a run that did.
    """

    outcome: Outcome
    device: str
    torch_version: str
    dtype: str
    total: int
    changed: int = 0
    unwritten: int = 0
    first: tuple[int, Content, Content] | None = None
    first_rank: int | None = None
    holes: int = 0
    rewritten: int = 0
    repeated: int = 0
    drift: Drift | None = None
    error: str | None = None
    reason: str | None = None


def skipped(reason: str, *, device: str, total: int, dtype: str = "", torch_version: str = "") -> Replay:
    """A replay that did not take place."""
    return Replay(
        outcome="skipped",
        device=device,
        torch_version=torch_version,
        dtype=dtype,
        total=total,
        reason=reason,
    )


def replay_document(replay: Replay) -> dict[str, Any]:
    """A replay as JSON values. Floats travel as text, since JSON has no NaN."""
    document: dict[str, Any] = {field.name: getattr(replay, field.name) for field in fields(Replay)}
    if replay.first is not None:
        document["first"] = [repr(x) if isinstance(x, float) else x for x in replay.first]
    if replay.drift is not None:
        document["drift"] = [replay.drift.address, replay.drift.earlier, replay.drift.later]
    return document


def replay_from_document(document: Mapping[str, Any]) -> Replay:
    """The inverse of ``replay_document``.

    Raises:
        MalformedRequestError: it is not the document of a replay.
    """
    values = dict(document)
    try:
        if values["outcome"] not in get_args(Outcome):
            raise MalformedRequestError(f"unknown outcome {values['outcome']!r}")
        if values["first"] is not None:
            address, was, came = values["first"]
            values["first"] = (address, _content(was), _content(came))
        if values["drift"] is not None:
            values["drift"] = Drift(*values["drift"])
        return Replay(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedRequestError(f"not a replay: {error}") from error


def _content(value: int | str | None) -> Content:
    return float(value) if isinstance(value, str) else value
