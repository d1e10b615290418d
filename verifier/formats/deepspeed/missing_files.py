"""Which model-states files a checkpoint directory should have, and which of them are not there."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from verifier.formats.deepspeed.model_states import AFFINE_MAP, ModelStates, rank_in_name
from verifier.formats.reading.document import Refusal
from verifier.obligations.faults import Count, Fault

MOST_NAMED = 4


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
        yield Fault(
            code="CK101",
            side="map",
            rank=rank,
            count=Count(len(missing), exact=True),
            values={
                "file": f"mp_rank_{rank:02d}_model_states.pt",
                "descriptor": expected.descriptor,
                "stated": expected.stated,
            },
        )
