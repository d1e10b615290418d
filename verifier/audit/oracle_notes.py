"""What torch does with a map, in a process of its own: notes for people, and bugs of ours."""

from __future__ import annotations

from verifier.audit.execution import Execution
from verifier.geometry.strided import coordinates
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.oracle.agreement import contradiction
from verifier.oracle.child import replay_in_child
from verifier.oracle.documents import Request
from verifier.oracle.outcome import Content, Replay
from verifier.verdicts import Proved, Refuted, Verdict


def execute(shard_map: ShardMap, expectation: Expectation, verdict: Verdict, *, device: str) -> Execution:
    """Replay a map on ``device``.

    Raises:
        OracleError: torch is not installed, or the device does not exist.
    """
    replay = replay_in_child(
        Request(
            shard_map=shard_map,
            reference=expectation.reference,
            expectation=expectation,
            device=device,
        )
    )
    codes: set[str] = set()
    if isinstance(verdict, Refuted):
        codes = {f.code for f in verdict.faults if not f.undecided and (f.address is not None or f.pieces)}
    against = contradiction(replay, proved=isinstance(verdict, Proved), codes=codes)
    faults = () if against is None else (_tool_bug(against),)
    return Execution((replay_note(shard_map, replay),), faults)


def _tool_bug(reason: str) -> Fault:
    return Fault(code="TB101", side="map", values={"obligation": "torch oracle", "reason": reason})


def replay_note(shard_map: ShardMap, replay: Replay) -> str:
    """One sentence on what really happened."""
    head = f"replayed in torch {replay.torch_version.split('+')[0]} on {replay.device}: "
    match replay.outcome:
        case "skipped":
            return f"not replayed in torch: {replay.reason}"
        case "exact":
            return head + f"extract, then rebuild, returns all {replay.total} elements bit for bit"
        case "raises":
            return head + f"it refuses to run: {replay.error}"
        case "replicas-differ" if replay.drift is not None:
            drift = replay.drift
            return head + f"ranks {drift.earlier} and {drift.later} bring different data for one element"
    lost = replay.changed + replay.unwritten
    text = head + f"extract, then rebuild, changes {lost} of {replay.total} elements"
    if replay.unwritten:
        text += f", {replay.unwritten} of them uninitialised memory"
    if replay.first is not None:
        address, was, came = replay.first
        element = list(coordinates(address, shard_map.logical_shape))
        text += f"; {element} was {_content(was)} and comes back {_content(came)}"
    return text


def _content(content: Content) -> str:
    return "uninitialised" if content is None else f"{content}"
