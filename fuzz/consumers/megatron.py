"""The target ``megatron``: the check of Megatron-Core that shards of a checkpoint fit together.

Megatron knows two kinds of cuts: a regular grid, whose cells it counts, and an irregular one, whose pieces it
does not look at because it trusts the checkpoint library below. A map whose pieces are boxes is given to it
as what it is cut as; one that is wrong, as what it was cut as before its defect.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from types import ModuleType

import torch

from fuzz.cases import Case, Selection
from fuzz.consumers.boxes import Box, Chunk
from fuzz.consumers.chunked import Chunked, Inexpressible, chunked
from fuzz.consumers.judging import validated
from fuzz.outcomes import Tally

ANY = Selection()
PACKAGE = "megatron-core"
REGULAR, IRREGULAR = "regular grid", "irregular grid"
INEXPRESSIBLE = "sharding integrity"


class MegatronImportError(ImportError):
    """Megatron-Core is not installed, or cannot be imported; the text says what to do."""


@dataclass(frozen=True, slots=True)
class MegatronTarget:
    """The check of the Megatron-Core that is installed.

    Raises:
        MegatronImportError: none is.
    """

    selection: Selection = ANY
    name: str = "megatron"

    def __post_init__(self) -> None:
        validation()

    @property
    def version(self) -> str:
        """Of Megatron-Core."""
        return f"{PACKAGE} {version_of(PACKAGE)}"

    def run(self, case: Case) -> Tally:
        """Give the chunks of a case to the check."""
        tally = Tally()
        found = chunked(case)
        if isinstance(found, Inexpressible):
            tally.count("inexpressible", INEXPRESSIBLE, found.reason)
            return tally
        for one in found:
            self._judge(tally, one)
            one.compare(tally)
        return tally

    def _judge(self, tally: Tally, one: Chunked) -> None:
        # A framework derives the grid from its parallel sizes, so a fault of one piece does not change it.
        intended = (one.clean, one.case.clean) if one.wrong else (one.chunks, one.case.shard_map)
        grid = grid_of([chunk.box for chunk in intended[0]], intended[1].logical_shape)
        names = (AssertionError, validation().CheckpointingException)
        ask = partial(check, one.shape, one.chunks, grid)
        attempt = validated(ask, names=names, right=one.wrong is None)
        one.judge(tally, IRREGULAR if grid is None else REGULAR, attempt)


@cache
def validation() -> ModuleType:
    """Megatron's module of checks.

    Raises:
        MegatronImportError: it cannot be imported.
    """
    try:
        version_of(PACKAGE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is faster when installed
            from megatron.core.dist_checkpointing import validation as found
    except (ImportError, PackageNotFoundError) as error:
        reason = f"{PACKAGE} cannot be imported ({error}); install it: pip install --no-deps {PACKAGE}"
        raise MegatronImportError(reason) from error
    module: ModuleType = found
    return module


def grid_of(boxes: Sequence[Box], shape: Sequence[int]) -> tuple[int, ...] | None:
    """Into how many equal parts each axis is cut; None where the boxes are no cells of such a grid."""
    sizes = boxes[0].sizes
    parts = []
    for size, extent in zip(sizes, shape, strict=True):
        if size == extent:
            parts.append(1)
        elif size and extent % size == 0:
            parts.append(extent // size)
        else:
            return None
    cells = (box.sizes == sizes and _at_a_cell(box) for box in boxes)
    return tuple(parts) if all(cells) else None


def check(shape: Sequence[int], chunks: Sequence[Chunk], grid: tuple[int, ...] | None) -> None:
    """Give the chunks of all ranks, each the main replica, to Megatron, which looks at no others.

    Raises:
        CheckpointingException: of Megatron, when it finds something wrong; AssertionError likewise.
    """
    module = validation()
    shards = [
        module.ShardedTensor(
            key="parameter",
            data=None,
            dtype=torch.float32,
            local_shape=chunk.box.sizes,
            global_shape=tuple(shape),
            global_offset=chunk.box.offsets,
            axis_fragmentations=grid,
        )
        for chunk in chunks
    ]
    module._validate_sharding_for_key([(c.rank, s) for c, s in zip(chunks, shards, strict=True)])


def _at_a_cell(box: Box) -> bool:
    return all(offset % size == 0 for offset, size in zip(box.offsets, box.sizes, strict=True) if size)
