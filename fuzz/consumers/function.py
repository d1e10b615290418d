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
silently wrong. Validators are right to refuse exactly the maps that are not sound.

ValueError, AssertionError, NotImplementedError and exceptions of the function's own package are refusals by
name; any other exception is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from fuzz.cases import Case, Selection
from fuzz.consumers.classes import Class
from fuzz.consumers.function_loading import Function, load
from fuzz.consumers.judging import ask_prover, record, validated
from fuzz.consumers.strict import Attempt, attempt, cut, parameter
from fuzz.layouts import LAYOUTS
from fuzz.outcomes import Tally
from fuzz.walk import walk
from verifier.certificates.encode import map_to_json
from verifier.model.expectation import Expectation
from verifier.model.piece import ONE
from verifier.model.shard_map import ShardMap

REFUSALS = (ValueError, AssertionError, NotImplementedError)
WAIVING = ("padded", "gapped", "partial", "lookup")
"""Layouts that are right only under an expectation, of which a map says nothing."""
SOUND_BY_THEMSELVES = Selection(layouts=tuple(name for name in LAYOUTS if name not in WAIVING), size=48)


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A function by its place, which is all that travels to other processes.

    Raises:
        FunctionError: there is no such function, or it takes something else.
    """

    where: str
    selection: Selection = SOUND_BY_THEMSELVES

    def __post_init__(self) -> None:
        load(self.where)

    @property
    def name(self) -> str:
        """The place of the function."""
        return self.where

    @property
    def version(self) -> str:
        """The digest of the source file."""
        return load(self.where).digest

    def run(self, case: Case) -> Tally:
        """Give the map of a case to the function."""
        tally = Tally()
        function = load(self.where)
        walked = walk(case.shard_map, Expectation())
        sound = walked.ok
        tally.count("map", "sound" if sound else "not sound")
        if function.parameters == 1:
            operation, made = "validate", _validate(function, case.shard_map, sound=sound)
            if made.klass is Class.SILENT:
                made = replace(
                    made, words=f"accepted, though not sound: {', '.join(sorted(walked.families))}"
                )
        else:
            held = case.shard_map if sound else case.clean
            if not _divides_exactly(held):
                tally.count("inexpressible", "convert", "a scale that rounds")
                return tally
            operation, made = "convert", _convert(function, case.shard_map, held, sound=sound)
        record(tally, case, operation, made)
        if made.klass is Class.SILENT and not sound:
            ask_prover(tally, case, operation)
        return tally


def plain(shard_map: ShardMap) -> dict[str, Any]:
    """The map as a function of the user gets it, a new one at every call."""
    document = map_to_json(shard_map)
    for rank, at, piece in shard_map.pieces():
        if piece.scale != ONE:
            document["ranks"][str(rank)]["pieces"][at]["scale"] = float(piece.scale)
    document["ranks"] = {int(rank): shard for rank, shard in document["ranks"].items()}
    return document


def _validate(function: Function, shard_map: ShardMap, *, sound: bool) -> Attempt:
    def call() -> None:
        said = function.call(plain(shard_map))
        if isinstance(said, bool | np.bool_ | torch.Tensor) and not said:
            raise AssertionError("returned False")

    return _attempted(function, call, lambda asked: validated(asked, names=REFUSALS, right=sound))


def _convert(function: Function, shard_map: ShardMap, held: ShardMap, *, sound: bool) -> Attempt:
    full = parameter(held)
    shards = cut(held, full)
    return _attempted(
        function,
        lambda: _tensor(function.call(plain(shard_map), shards)),
        lambda asked: attempt(asked, full, names=REFUSALS, right=sound),
    )


def _attempted(
    function: Function, call: Callable[[], Any], judged: Callable[[Callable[[], Any]], Attempt]
) -> Attempt:
    """What is judged of a call, where the exceptions of the function's own package are refusals too."""
    own: list[bool] = []

    def asked() -> Any:
        try:
            return call()
        except SystemExit as error:
            raise RuntimeError(f"SystemExit: {error}") from error
        except Exception as error:
            own.append(function.owns(type(error)))
            raise

    made = judged(asked)
    return replace(made, klass=Class.REFUSED) if made.klass is Class.RAISED and any(own) else made


def _tensor(made: object) -> torch.Tensor:
    if isinstance(made, np.ndarray | np.generic):
        made = torch.from_numpy(np.array(made, order="C"))
    if not isinstance(made, torch.Tensor):
        raise TypeError(f"returned a {type(made).__name__}, neither a tensor of torch nor an array of numpy")
    # An empty array may have strides of 0, whose bits torch does not show.
    return made.detach().clone(memory_format=torch.contiguous_format)


def _divides_exactly(shard_map: ShardMap) -> bool:
    """Whether every scale is a power of two, so that dividing by it gives the bits of an element back."""
    scales: list[Any] = [piece.scale for _, _, piece in shard_map.pieces() if not piece.is_empty]
    return all(
        not isinstance(scale, float) and _is_power(abs(scale.numerator)) and _is_power(scale.denominator)
        for scale in scales
    )


def _is_power(number: int) -> bool:
    return number.bit_count() == 1
