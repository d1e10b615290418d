"""Which model-states files a checkpoint directory should have, and which of them are not there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from verifier.formats.deepspeed.model_states import AFFINE_MAP, ModelStates, rank_in_name
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.gathered import missing_file
from verifier.obligations.faults import Fault

MOST_NAMED = 4
LAYER_FILE = re.compile(r"layer_(\d{2,6})((?:-model_\d{2,6})?-model_states\.pt)", re.ASCII)
"""Of a pipeline: the number of the layer, and what names the tensor-parallel rank."""

LAYER_NAME = re.compile(r"(\d{1,6})\.", re.ASCII)
"""How a pipeline begins the name of a parameter: with the number of its layer."""


@dataclass(frozen=True, slots=True)
class ExpectedFiles:
    """The ranks that each have a file; ``descriptor`` says so by its value ``stated``."""

    ranks: Sequence[int]
    descriptor: str
    stated: int


def expected_files(
    files: Sequence[ModelStates], map_ranks: Iterable[int], *, only_ranked: bool
) -> ExpectedFiles | None:
    """The files that should be there; None when nothing says it.

    Args:
        files: the files that could be read.
        map_ranks: all ranks that the affine maps name; restoring reads the file of each.
        only_ranked: True when every model-states file of the directory is named after its rank.
    """
    # The stages of a pipeline number their files together.
    if any(states.pp_degree not in (None, 1) for states in files):
        return None
    degree = next((states.tp_degree for states in files if states.tp_degree is not None), None)
    if degree is not None:
        return ExpectedFiles(range(degree), "tp_degree", degree)
    ranks = sorted(map_ranks)
    return (
        ExpectedFiles(ranks, f"the number of ranks in {AFFINE_MAP}", len(ranks))
        if ranks and only_ranked
        else None
    )


def missing_files(
    expected: ExpectedFiles, files: Sequence[ModelStates], refusals: Sequence[Refusal]
) -> Iterator[Fault]:
    """CK101 for the first few expected files that are not there. Refused files are there."""
    present = {states.rank for states in files} | {rank_in_name(refusal.name) for refusal in refusals}
    missing = [rank for rank in expected.ranks if rank not in present]
    for rank in itertools.islice(missing, MOST_NAMED):
        yield missing_file(
            f"mp_rank_{rank:02d}_model_states.pt",
            len(missing),
            descriptor=expected.descriptor,
            stated=expected.stated,
            rank=rank,
        )


def missing_layers(files: Sequence[ModelStates], names: Iterable[str]) -> Iterator[Fault]:
    """CK101 for layers of a pipeline: each is a file of its own, of each tensor-parallel rank.

    A layer without parameters may have none, so only the names of parameters and other ranks ask for a file.
    """
    there = {(int(found[1]), found[2]) for name in names if (found := LAYER_FILE.fullmatch(name))}
    layers = {layer for layer, _ in there}
    suffixes = {suffix for _, suffix in there}
    if not there:
        return
    for states in files:
        parameters = [name for group in states.groups or () for name in group]
        layers |= {int(found[1]) for name in parameters if (found := LAYER_NAME.match(name))}
    missing = sorted({(layer, suffix) for layer in layers for suffix in suffixes} - there)
    if missing:
        layer, suffix = missing[0]
        yield missing_file(
            f"layer_{layer:02d}{suffix}",
            len(missing),
            descriptor="the number of layers with parameters",
            stated=len(layers),
        )
