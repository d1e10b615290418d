"""What is said of bad arguments, as findings."""

from __future__ import annotations

from collections.abc import Sequence

from verifier.certificates.encode import map_to_json
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Subject
from verifier.diagnostics.snippets import affine_text
from verifier.diagnostics.wording import counted, shape_text
from verifier.gate.attempts import Outcome
from verifier.gate.findings import constructor_finding
from verifier.gate.hostile import BadCall
from verifier.gate.literals import as_json, call_text, shown
from verifier.gate.loading import Loaded

_MOST_RANKS = 8
_MOST_PIECES = 6


def silently_wrong(loaded: Loaded, call: BadCall, outcome: Outcome, judged: Subject | None) -> Finding:
    """SM603: a bad argument, and the map that was made of it."""
    return constructor_finding(
        loaded,
        "SM603",
        "refuted",
        f"silently makes a wrong map of {call.argument}={shown(call.value)}",
        f"takes {call.argument}={shown(call.value)}",
        complaint=outcome.words,
        nested=judged,
        notes=(f"{call.kind}, among {call_text(call.arguments)}", *_map_notes(outcome)),
        helps=(f"raise a ValueError that names {call.argument} where it is no such value",),
        witness={
            "argument": call.argument,
            "kind": call.kind,
            "arguments": as_json(dict(call.arguments)),
            "made": None if outcome.returned is None else map_to_json(outcome.returned.shard_map),
        },
        identity=f"{call.argument}={shown(call.value)}",
    )


def unnamed(loaded: Loaded, argument: str, lines: Sequence[str]) -> Finding:
    """SM604: bad values of one argument, and the exceptions that do not name it."""
    return constructor_finding(
        loaded,
        "SM604",
        "refuted",
        f"does not refuse {counted(len(lines), 'bad value')} of {argument} by name",
        f"lets {argument} through",
        complaint=lines[0] if len(lines) == 1 else f"{lines[0]} (and {len(lines) - 1} more)",
        notes=tuple(lines[1:]),  # the first stands above them
        helps=(f"raise a ValueError or TypeError that names {argument}",),
        witness={"argument": argument, "values": list(lines)},
        identity=argument,
    )


def undecided_calls(loaded: Loaded, lines: Sequence[str]) -> Finding:
    """SM901: maps of bad arguments that are neither proved nor refuted."""
    return constructor_finding(
        loaded,
        "SM901",
        "undecided",
        f"makes {counted(len(lines), 'map')} of bad arguments that are not decided (this is not a pass)",
        "takes them",
        notes=tuple(lines),
        helps=("raise the limits with --budget, or refuse these arguments by name",),
        witness={"calls": list(lines)},
    )


def _map_notes(outcome: Outcome) -> tuple[str, ...]:
    """The map that was made, a line for each rank."""
    if outcome.returned is None:
        return ()
    made = outcome.returned.shard_map
    lines = [f"the map: parameter {shape_text(made.logical_shape)}"]
    for rank, shard in list(made.ranks.items())[:_MOST_RANKS]:
        pieces = [affine_text(piece)[0] for piece in shard.pieces[:_MOST_PIECES]]
        more = [f"{len(shard.pieces) - _MOST_PIECES} more"] if len(shard.pieces) > _MOST_PIECES else []
        held = ", ".join([*pieces, *more]) or "nothing"
        lines.append(f"rank {rank}, shard {shape_text(shard.shard_shape)}: {held}")
    if len(made.ranks) > _MOST_RANKS:
        lines.append(f"and {len(made.ranks) - _MOST_RANKS} more ranks")
    return tuple(lines)
