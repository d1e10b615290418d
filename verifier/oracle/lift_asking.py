"""The cells of all ranks, by asking a function in one dtype after the other until it answers, and then again.

A function may do something else for tensors of another dtype. So one that answered for integers is asked once
more with floating point numbers, which is what weights are, and has to say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from verifier.model.piece import exact_scale
from verifier.oracle.lift_errors import (
    BadTargetError,
    CallFailedError,
    DtypeDependentError,
    LiftError,
    NotAGatherError,
    TooCoarseError,
    TooLargeError,
)
from verifier.oracle.lift_probe import MOST_BITS, Call, Cells, cells_of
from verifier.oracle.lift_sent import Sent
from verifier.oracle.lifted import words_of

MOST_CELLS = 2**26
"""Of all shards together."""
FLOATS = (torch.float32, torch.bfloat16, torch.float16)
"""In which a function is asked again; the first that it takes counts."""
_BITS = (MOST_BITS, 24, 11, 8, 4, 3)
"""Digits to try: a function may round to fewer bits than its result has."""

Attempt = Callable[[int], Call]
"""The calls of one attempt: by rank."""
Done = Callable[[int, int], None]
"""Called with how many more parts of the work are done, and how many more are known of."""


def not_told(done: int, more: int) -> None:
    """Nobody asks how far the work is."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked, about how large a tensor, and who is told how far that is."""

    ranks: Sequence[int]
    numel: int
    done: Done = not_told

    def first_success(self, attempts: Sequence[Attempt]) -> tuple[int, dict[int, Cells]]:
        """The place of the first attempt that succeeds, and its cells; the first refusal if none does."""
        raised: CallFailedError | None = None
        refused: NotAGatherError | TooCoarseError | None = None
        for place, attempt in enumerate(attempts):
            for bits in _BITS:
                try:
                    return place, self._all_cells(attempt, bits)
                except CallFailedError as error:
                    raised = raised or error
                    break
                except (NotAGatherError, TooCoarseError) as error:
                    refused = refused or error
        failure = refused or raised
        if failure is None:
            raise BadTargetError(None, "there is nothing to try")
        raise failure

    def confirmed(
        self, attempt: Callable[[torch.dtype], Attempt], first: torch.dtype, cells: Mapping[int, Cells]
    ) -> torch.dtype | CallFailedError:
        """The floating point dtype in which the cells are the same; why there is none, if all calls fail.

        Raises:
            DtypeDependentError: they are others.
            TooLargeError: as for the first answer.
        """
        raised: list[CallFailedError] = []
        for dtype in FLOATS:
            try:
                _, again = self.first_success([attempt(dtype)])
            except CallFailedError as error:
                raised.append(error)
                continue
            except TooLargeError:
                raise
            except LiftError as error:
                raise DtypeDependentError(
                    None, f"a layout for a tensor of {first}, and none for one of {dtype}: {error}"
                ) from error
            for rank, mine in cells.items():
                _require_same(rank, first, mine, dtype, again[rank])
            return dtype
        return raised[0]

    def _all_cells(self, attempt: Attempt, bits: int) -> dict[int, Cells]:
        self.done(0, len(self.ranks))
        sent = Sent(self.numel)
        found: dict[int, Cells] = {}
        total = 0
        for rank in self.ranks:
            found[rank] = cells_of(attempt(rank), sent, rank, bits)
            total += len(found[rank].source)
            if total > MOST_CELLS:
                raise TooLargeError(rank, f"its shard and those before it have more than {MOST_CELLS} cells")
            self.done(1, 0)
        return found


def _require_same(rank: int, first: torch.dtype, mine: Cells, second: torch.dtype, again: Cells) -> None:
    """Refuse cells that depend on the dtype of the tensor.

    Raises:
        DtypeDependentError: as said.
    """
    if mine.shape != again.shape:
        raise DtypeDependentError(
            rank, f"a shard of {mine.shape} for a tensor of {first}, and of {again.shape} for one of {second}"
        )
    eps = max([torch.finfo(one.dtype).eps for one in (mine, again) if one.dtype.is_floating_point], default=0)
    constant = (mine.constant == again.constant) | (np.isnan(mine.constant) & np.isnan(again.constant))
    same = (mine.source == again.source) & (mine.unwritten == again.unwritten) & constant
    same &= np.abs(mine.factor - again.factor) <= eps * np.abs(mine.factor)  # each is as precise as its dtype
    wrong = np.flatnonzero(~same)
    if len(wrong):
        cell = int(wrong[0])
        raise DtypeDependentError(
            rank,
            f"shard address {cell} is {_words(mine, cell)} for a tensor of {first}, and "
            f"{_words(again, cell)} for one of {second}; lift what it does for one of them: wrap it in a "
            f"function that converts",
        )


def _words(cells: Cells, cell: int) -> str:
    if cells.source[cell] >= 0:
        return words_of(int(cells.source[cell]), exact_scale(float(cells.factor[cell])))
    return "never written" if cells.unwritten[cell] else f"always {cells.constant[cell]:g}"
