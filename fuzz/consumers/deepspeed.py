"""The target ``deepspeed``: what the installed DeepSpeed makes of a map with a defect, or of a right one.

Shards are cut by the map before its defect; the map with the defect checks itself, rebuilds the parameter,
extracts shards from it, and is one side of a transfer whose other side is the right map.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from fuzz.cases import Case, Selection
from fuzz.consumers.classes import Class
from fuzz.consumers.deepspeed_release import NotInstalledError, release, release_version
from fuzz.consumers.judging import Standing, ask_prover, key_of, note, proven, record, standing_of, validated
from fuzz.consumers.plain import plain
from fuzz.consumers.strict import REFUSALS, Attempt, Tensors, attempt, cut, parameter, refusal
from fuzz.in_tree import IN_TREE
from fuzz.mutants import NUMBERS
from fuzz.outcomes import Tally
from fuzz.walk import addresses
from verifier.geometry.strided import StridedView
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap

NAN = "rebuild of NaN"
FIRST_NAN = 0x7FF8_0000_0000_0001
"""The bits of a double that is no number, and not the one in poisoned memory."""


def their_map(shard_map: ShardMap) -> Any:
    """The map as a ``ParamAffineMap``, read from the form that checkpoints have.

    Raises:
        NotInstalledError: DeepSpeed or torch is missing.
        Exception: whatever its reader raises.
    """
    return release("affine").ParamAffineMap.from_dict(plain(shard_map))


def moved(plan: Any, shards: Mapping[int, torch.Tensor], target: ShardMap) -> dict[int, torch.Tensor]:
    """The shards of ``target`` after an element by element execution of a plan; NaN where none arrives."""
    read = {rank: shard.reshape(-1).tolist() for rank, shard in shards.items()}
    made = {rank: [torch.nan] * shard.numel for rank, shard in target.ranks.items()}
    for segment in plan.segments:
        sources = addresses(StridedView(segment.source_offset, segment.shape, segment.source_strides))
        dests = addresses(StridedView(segment.target_offset, segment.shape, segment.target_strides))
        have, cells = read[segment.source_rank], made[segment.target_rank]
        for source, dest in zip(sources, dests, strict=True):
            if not (0 <= source < len(have) and 0 <= dest < len(cells)):
                continue  # the element does not arrive
            cells[dest] = have[source]
    return {
        rank: torch.tensor(cells, dtype=torch.float64).reshape(target.ranks[rank].shard_shape)
        for rank, cells in made.items()
    }


def not_numbers(shard_map: ShardMap) -> torch.Tensor:
    """A parameter of NaNs, each with bits of its own."""
    bits = torch.arange(FIRST_NAN, FIRST_NAN + shard_map.numel, dtype=torch.int64)
    return bits.view(torch.float64).reshape(shard_map.logical_shape)


@dataclass(frozen=True, slots=True)
class DeepSpeedTarget:
    """The affine maps of DeepSpeed: their checks, their use, and the planner of transfers.

    Raises:
        NotInstalledError: DeepSpeed or torch is missing.
    """

    selection: Selection = field(
        default_factory=lambda: Selection(layouts=tuple(IN_TREE), mutants=NUMBERS, right=0.0, dress=False)
    )
    name: str = "deepspeed"

    def __post_init__(self) -> None:
        release("affine")

    @property
    def version(self) -> str:
        """Of the installed DeepSpeed."""
        return f"deepspeed {release_version()}"

    def run(self, case: Case) -> Tally:
        """Everything asked of one case."""
        return _Trial(case, standing_of(case)).tally()


@dataclass(slots=True)
class _Trial:
    """One case on its way; ``silent`` are the operations that were silently wrong."""

    case: Case
    standing: Standing
    found: Tally = field(default_factory=Tally)
    silent: list[str] = field(default_factory=list)

    def tally(self) -> Tally:
        self.found.count("map", self.standing.word)
        theirs = self.read()
        if theirs is not None:
            for check in ("validate", "validate_coverage"):
                self.check(check, getattr(theirs, check))
            self.use(theirs)
            self.transfer(theirs)
        if self.silent and not self.standing.right:
            ask_prover(self.found, self.case, *self.silent)
            self.found.count("prover", "structural", proven(self.case.shard_map, None))
        return self.found

    def read(self) -> Any | None:
        """Their map; None when their reader refuses ours."""
        try:
            theirs = their_map(self.case.shard_map)
        except NotInstalledError:
            raise
        except Exception as error:
            by_name = isinstance(error, REFUSALS)
            self.record("from_dict", refusal(error, by_name=by_name, right=self.standing.right))
            return None
        self.record("from_dict", Attempt(Class.EXACT, uninitialised=False, words=""))
        return theirs

    def check(self, operation: str, call: Callable[[], None]) -> None:
        """A check that returns nothing and should raise for a wrong map: another function it cannot know."""
        made = validated(call, names=REFUSALS, right=self.standing.right)
        words = {Class.EXACT: "accepted", Class.SILENT: "accepted", Class.RAISED: "raised"}
        self.found.count("accepts", operation, f"{self.standing.word}, {words.get(made.klass, 'refused')}")
        if made.klass is Class.REFUSED_RIGHT:
            note(self.found, self.case, operation, made, self.key(operation, made))

    def use(self, theirs: Any) -> None:
        """The parameter from right shards, and shards from the right parameter."""
        clean = self.case.clean
        full = parameter(clean)
        shards = cut(clean, full)
        self.attempt("rebuild", lambda: theirs.rebuild(shards), full)
        self.attempt("extract", lambda: {rank: theirs.extract(full, rank) for rank in clean.ranks}, shards)
        if self.case.mutant is None and all(piece.scale == ONE for _, _, piece in clean.pieces()):
            nans = not_numbers(clean)
            self.attempt(NAN, lambda: theirs.rebuild(cut(clean, nans)), nans)

    def transfer(self, theirs: Any) -> None:
        """Right shards through a plan, where one side of it is the map on trial."""
        case = self.case
        planned = release("affine_transfer").plan_transfer
        right = their_map(case.clean)
        shards = cut(case.clean, parameter(case.clean))
        self.attempt("plan_transfer from", lambda: moved(planned(right, theirs), shards, case.clean), shards)
        self.attempt(
            "plan_transfer to", lambda: moved(planned(theirs, right), shards, case.shard_map), shards
        )

    def attempt(self, operation: str, call: Callable[[], Tensors], expected: Tensors) -> None:
        self.record(operation, attempt(call, expected, names=REFUSALS, right=self.standing.right))

    def record(self, operation: str, made: Attempt) -> None:
        record(self.found, self.case, operation, made, self.key(operation, made))
        if made.klass is Class.SILENT:
            self.silent.append(operation)

    def key(self, operation: str, made: Attempt) -> str:
        """Refusals of right maps are the same whatever mutant left the map right."""
        if made.klass is Class.REFUSED_RIGHT:
            return f"{operation}: {_kind_of_refusal(self.case.shard_map, operation, made.words)}"
        memory = "memory nobody wrote" if made.uninitialised else "other elements"
        return key_of(self.case, operation, f"{memory}, map is {self.standing.word}")


def _kind_of_refusal(shard_map: ShardMap, operation: str, words: str) -> str:
    """What makes a right map look wrong to DeepSpeed, else its own words without their numbers."""
    if "hold different data" in words:
        pieces = [piece for _, _, piece in shard_map.pieces()]
        at = {piece.source.offset for piece in pieces if piece.is_empty}
        if any(p.source.offset in at for p in pieces if len(p.locations) > 1 and not p.is_empty):
            return "an empty piece shares its offset with a replica"
        if operation == NAN:
            return "replicas that are NaN"
    without_pieces = re.sub(r"AffinePiece\(.*scale=[^)]*\)", "P", words)
    without_numbers = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", without_pieces)
    return re.sub(r"#(, #)+", "#", without_numbers)[:80]
