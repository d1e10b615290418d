"""The target ``module:function`` or ``path/to/file.py:function``: a function of the user's own.

What the function is follows from its parameters; those with defaults do not count.

One parameter, a **validator**: it gets a map and refuses it by raising, or by returning False. Whatever else
it returns accepts the map.

    def check(entry: dict) -> None: ...

Two parameters, a **converter**: it gets a map and the shards, and returns the parameter.

    def rebuild(entry: dict, shards: dict[int, torch.Tensor]) -> torch.Tensor | numpy.ndarray: ...

The map has the plain form that DeepSpeed's ``to_dict`` writes, and nothing else::

    {"logical_shape": [..], "ranks": {rank: {"shard_shape": [..], "pieces": [piece, ..]}}}
    piece  {"shape": [..], "source": [offset, [strides]], "dest": [offset, [strides]], "locations": [..]}

with ``"scale": number`` in pieces whose scale is not 1. Ranks are integers. Offsets and strides count
elements, of the row-major parameter in ``source`` and of the row-major shard in ``dest``.

Shards are float64. A map that is sound by itself gets shards cut by itself, and must give the parameter back,
bit for bit. One that is not gets the shards of the map before its defect, as if the map came with the wrong
checkpoint: to refuse it is right, to give the parameter back all the same is harmless, and anything else is
silently wrong. Validators are right to refuse exactly the maps that are not sound. Maps that are right only
for a reader who waives something, as paddings or gaps, are not asked about: the plain form does not say so.

ValueError, AssertionError, NotImplementedError and exceptions of the function's own package are refusals by
name. Whatever else it raises is counted apart, ``SystemExit`` and a call that takes too long too.

During a call the global random numbers of Python, numpy and torch begin at a seed of the case, so that
``--case`` repeats it, and what the function prints goes to stderr.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import torch

from fuzz.cases import Case, Selection
from fuzz.consumers.calling import Raised, called
from fuzz.consumers.classes import Class
from fuzz.consumers.function_loading import Function, load
from fuzz.consumers.judging import Standing, accepted, ask_prover, key_of, record, standing_of
from fuzz.consumers.plain import plain
from fuzz.consumers.strict import (
    REFUSALS,
    Attempt,
    compared,
    cut,
    divides_exactly,
    parameter,
    read,
    refusal,
)
from fuzz.layouts import LAYOUTS
from fuzz.outcomes import Tally
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

WAIVING = ("padded", "gapped", "partial", "lookup")
"""Layouts that are right only under an expectation, of which a map says nothing."""
SOUND_BY_THEMSELVES = Selection(layouts=tuple(name for name in LAYOUTS if name not in WAIVING), size=48)


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A function by its place, which is all that travels to other processes.

    Raises:
        FunctionError: there is no such function, or it takes something else.

    Attributes:
        seconds: after which a call is ended; 0 for no limit.
    """

    where: str
    selection: Selection = SOUND_BY_THEMSELVES
    seconds: float = 60.0

    def __post_init__(self) -> None:
        load(self.where)

    @property
    def name(self) -> str:
        """The place of the function."""
        return self.where

    @property
    def version(self) -> str:
        """The digest of its source files, and what it most likely computes with."""
        return f"{load(self.where).digest}, torch {torch.__version__}, numpy {np.__version__}"

    def run(self, case: Case) -> Tally:
        """Give the map of a case to the function."""
        function = load(self.where)
        return _Trial(case, function, standing_of(case), self.seconds).tally()


@dataclass(frozen=True, slots=True)
class _Trial:
    """One case on its way."""

    case: Case
    function: Function
    standing: Standing
    seconds: float

    def tally(self) -> Tally:
        tally, case = Tally(), self.case
        operation = "validate" if self.function.parameters == 1 else "convert"
        if _waives(case.expectation):
            tally.count("inexpressible", operation, "right only under an expectation")
            return tally
        held = case.shard_map if self.standing.sound else case.clean
        if operation == "convert" and not divides_exactly(held):
            tally.count("inexpressible", operation, "a scale that rounds")
            return tally
        tally.count("map", self.standing.word)
        made = self.validate() if operation == "validate" else self.convert(held)
        record(tally, case, operation, made, key_of(case, operation, str(self.standing)))
        if made.klass is Class.SILENT and not self.standing.sound:
            ask_prover(tally, case, operation)
        return tally

    def validate(self) -> Attempt:
        """What a validator says of the map."""
        said = self.call(plain(self.case.shard_map))
        if isinstance(said, Raised):
            return self.refused(said.error)
        plainly = said is None or _is_bool(said)
        if plainly and said is not None and not said:
            return self.refused(AssertionError("returned False"))
        words = "accepted" if plainly else f"accepted, since it returned a {type(said).__name__},"
        return accepted(f"{words} though the map is {self.standing}", right=self.standing.sound)

    def convert(self, held: ShardMap) -> Attempt:
        """What a converter makes of the map and shards that another one may have cut."""
        full = parameter(held)
        said = self.call(plain(self.case.shard_map), cut(held, full))
        if isinstance(said, Raised):
            return self.refused(said.error)
        try:
            made = read(said)
        except Exception as error:
            return refusal(error, by_name=False, right=self.standing.sound)
        return compared(made, full)

    def call(self, *arguments: Any) -> Any | Raised:
        seed = crc32(self.case.name.encode())
        return called(lambda: self.function.call(*arguments), seed=seed, seconds=self.seconds)

    def refused(self, error: BaseException) -> Attempt:
        """The exceptions of the function's own packages are refusals too."""
        by_name = isinstance(error, REFUSALS) or self.function.owns(type(error))
        return refusal(error, by_name=by_name, right=self.standing.sound)


def _waives(expectation: Expectation) -> bool:
    """Whether a map that is right under it may not be sound by itself, or is meant as a sum."""
    waived = expectation.lookup or expectation.partial or not expectation.cover
    return waived or bool(expectation.gaps) or any(expectation.holes.values())


def _is_bool(said: object) -> bool:
    if type(said) is torch.Tensor:
        return said.dtype == torch.bool and said.numel() == 1 and said.device.type != "meta"
    return isinstance(said, bool | np.bool_)
