"""When a verdict and a replay cannot both be right. A contradiction is a bug of ours (TB101).

A sound map replays exactly (T10), so every proof can be contradicted. Of the refutations only some must
show in an execution, because a later copy can repair what an earlier one broke:

* SM101, SM102, SM105: torch refuses a view that leaves its storage, and every negative stride.
* SM203: no piece writes the cell. SM301: no piece brings the element. A pass that sends one value over
  different memory sees both, whatever the order of copies.
* SM201, SM202, SM302: they need not show in values (the same element written twice to one cell is lossless)
  but the census counts visits, and torch refuses some of these views outright.

Need not show, and prove nothing when a replay is exact: untrue locations (SM401 to SM403, SM107, SM108: no
copy reads them), conflicting or impossible scales (SM303; SM106 of a replica that is overwritten), index
widths (SM109), storage units (SM506) and every comparison with a reference (SM501: a wrong replica may be
overwritten by a right one).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from verifier.oracle.outcome import Replay

VISIBLE: dict[str, Callable[[Replay], bool]] = {
    "SM101": lambda replay: replay.outcome == "raises",
    "SM102": lambda replay: replay.outcome == "raises",
    "SM105": lambda replay: replay.outcome == "raises",
    "SM201": lambda replay: replay.outcome == "raises" or replay.rewritten > 0,
    "SM202": lambda replay: replay.outcome == "raises" or replay.rewritten > 0,
    "SM203": lambda replay: replay.outcome == "raises" or replay.holes > 0,
    "SM301": lambda replay: replay.outcome == "raises" or replay.unwritten > 0,
    "SM302": lambda replay: replay.outcome == "raises" or replay.repeated > 0,
}
"""What a replay must show when the code was refuted. Theory: T10."""


def contradiction(replay: Replay, *, proved: bool, codes: Collection[str] = ()) -> str | None:
    """How verdict and replay contradict each other, None when they can both be right.

    The replay must have been given the expectation of the verdict. A replay against a reference is fit to
    contradict a proof only if the proof compared with that reference.

    Args:
        replay: of the same map, in either mode.
        proved: whether the map was proved.
        codes: the codes that were refuted; undecided ones do not belong here.
    """
    if replay.outcome == "skipped":
        return None
    if proved:
        flaw = _flaw(replay)
        return None if flaw is None else f"proved, but torch {replay.torch_version} on {replay.device} {flaw}"
    for code in sorted(codes):
        if code in VISIBLE and not VISIBLE[code](replay):
            where = f"torch {replay.torch_version} on {replay.device}"
            return f"refuted for {code}, but {where} shows no such thing (outcome {replay.outcome})"
    return None


def _flaw(replay: Replay) -> str | None:
    """What keeps a replay from being one of a sound map."""
    if replay.error is not None:
        return f"refuses it: {replay.error}"
    if replay.changed or replay.unwritten:
        return f"loses {replay.changed + replay.unwritten} of {replay.total} elements, first {replay.first}"
    if replay.holes:
        return f"leaves {replay.holes} shard cells unwritten"
    if replay.drift is not None:
        return f"brings unequal replicas of element {replay.drift.address}"
    if replay.rewritten:
        return f"writes {replay.rewritten} shard cells more than once"
    if replay.repeated:
        return f"finds {replay.repeated} elements more than once on a rank"
    return None
