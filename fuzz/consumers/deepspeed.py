"""The target ``deepspeed``: what the installed DeepSpeed makes of a map with a defect, or of a right one.

Shards are cut by the map before its defect; the map with the defect checks itself, rebuilds the parameter,
extracts shards from it, and is one side of a transfer whose other side is the right map.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from fuzz.cases import Case, Selection
from fuzz.consumers.classes import Class
from fuzz.consumers.deepspeed_release import NotInstalledError, release, release_version
from fuzz.consumers.strict import Attempt, Tensors, attempt, cut, parameter, said_by
from fuzz.in_tree import IN_TREE
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally, finding
from fuzz.walk import addresses, walk
from verifier.audit.answering import Answering
from verifier.audit.judge import judge
from verifier.budget import Budget
from verifier.certificates.encode import map_to_json
from verifier.engines.registry import engine_named
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap
from verifier.verdicts import Proved

OFFSETS_AND_STRIDES = ("shift-source", "shift-dest", "source-stride", "dest-stride")
NAMES = (ValueError, NotImplementedError, AssertionError)
"""What DeepSpeed raises where it refuses a map or its data; torch raises RuntimeError."""
State = Literal["right", "another function", "invalid"]
"""What a walk says of a map; one that is another function is sound, but not the map before its defect."""
NAN = "rebuild of NaN"
FIRST_NAN = 0x7FF8_0000_0000_0001
"""The bits of a double that is no number, and not the one in poisoned memory."""


def their_map(shard_map: ShardMap) -> Any:
    """The map as a ``ParamAffineMap``, read from the form that checkpoints have.

    Raises:
        NotInstalledError: DeepSpeed or torch is missing.
        Exception: whatever its reader raises.
    """
    document = map_to_json(shard_map)
    for rank, position, piece in shard_map.pieces():
        if piece.scale != ONE:
            document["ranks"][str(rank)]["pieces"][position]["scale"] = float(piece.scale)
    return release("affine").ParamAffineMap.from_dict(document)


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
        default_factory=lambda: Selection(
            layouts=tuple(IN_TREE), mutants=OFFSETS_AND_STRIDES, right=0.0, dress=False
        )
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
        return _Trial(case, _state(case)).tally()


@dataclass(slots=True)
class _Trial:
    """One case on its way.

    Attributes:
        state: what a walk says of the map.
        silent: the operations that were silently wrong.
        accepted: the checks that had no objection.
    """

    case: Case
    state: State
    found: Tally = field(default_factory=Tally)
    silent: dict[str, Attempt] = field(default_factory=dict)
    accepted: list[str] = field(default_factory=list)

    def tally(self) -> Tally:
        self.found.count("map", self.state)
        theirs = self.read()
        if theirs is not None:
            for check in ("validate", "validate_coverage"):
                self.check(check, getattr(theirs, check))
            self.use(theirs)
            self.transfer(theirs)
        if self.silent:
            self.ask_prover()
        return self.found

    @property
    def right(self) -> bool:
        return self.state == "right"

    def read(self) -> Any | None:
        """Their map; None when their reader refuses ours."""
        try:
            theirs = their_map(self.case.shard_map)
        except NotInstalledError:
            raise
        except Exception as error:
            by_name = Class.REFUSED if isinstance(error, NAMES) else Class.RAISED
            klass = Class.REFUSED_RIGHT if self.right else by_name
            self.record("from_dict", Attempt(klass, uninitialised=False, words=said_by(error)))
            return None
        self.record("from_dict", Attempt(Class.EXACT, uninitialised=False, words=""))
        return theirs

    def check(self, operation: str, call: Callable[[], None]) -> None:
        """A check that returns nothing and should raise for a wrong map."""
        try:
            call()
        except Exception as error:
            word = "refused" if isinstance(error, NAMES) else "raised"
            if self.right:
                self.note_refusal(operation, said_by(error))
        else:
            word = "accepted"
            self.accepted.append(operation)
        self.found.count("accepts", operation, f"{self.state}, {word}")

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
        self.record(operation, attempt(call, expected, names=NAMES, right=self.right))

    def record(self, operation: str, made: Attempt) -> None:
        klass = made.klass.value
        self.found.count("outcome", operation, klass)
        self.found.count("outcome by mutant", operation, self.case.mutant or "none", klass)
        if made.uninitialised:
            self.found.count("uninitialised", operation)
        if made.klass is Class.SILENT:
            self.silent[operation] = made
        elif made.klass is Class.REFUSED_RIGHT:
            self.note_refusal(operation, made.words)

    def note_refusal(self, operation: str, words: str) -> None:
        kind = _kind_of_refusal(self.case.shard_map, operation, words)
        self.found.note(finding(self.case, REFUSED_RIGHT, f"{operation}: {kind}", f"{operation}: {words}"))

    def ask_prover(self) -> None:
        """What our own prover says of a map that was silently wrong, with and without its reference."""
        case = self.case
        answering = Answering(engine_named("auto"), Budget())
        proved = False
        for question, reference in (("with reference", case.clean), ("structural", None)):
            verdict = judge(case.shard_map, Expectation(reference=reference), answering).verdict
            word = type(verdict).__name__.lower()
            proved = proved or (reference is not None and isinstance(verdict, Proved))
            self.found.count("prover", question, word)
            for operation in self.silent:
                self.found.count("silent", operation, question, word)
        for operation, made in self.silent.items():
            for check in self.accepted:
                self.found.count("silent", operation, check, "accepted")
            self.note_silent(operation, made)
            if proved:
                words = f"proved against the reference, but {operation} is silently wrong: {made.words}"
                self.found.note(finding(case, DISAGREEMENT, f"proved, but wrong in {operation}", words))

    def note_silent(self, operation: str, made: Attempt) -> None:
        mutant = self.case.mutant or "none"
        memory = "memory nobody wrote" if made.uninitialised else "other elements"
        words = f"{operation} through a map that is {self.state}: {made.words}"
        key = f"{operation} {mutant}: {memory}, map is {self.state}"
        self.found.note(finding(self.case, SILENT, key, words))


def _state(case: Case) -> State:
    """What the map is as DeepSpeed means it: without paddings, gaps and whatever else a case may waive."""
    walked = walk(case.shard_map, Expectation(reference=case.clean))
    if walked.ok:
        return "right"
    return "another function" if walked.families == {"reference"} else "invalid"


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
