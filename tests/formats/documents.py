"""Small documents that the tests of the readers start from."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from verifier.formats import FormatError
from verifier.formats.reading.limits import Limits
from verifier.model.origin import Origin

LIMITS = Limits()
HERE = Origin("m.json")
SAMPLES = Path(__file__).parents[2] / "corpora" / "files"

Document = dict[str, Any]


def rows_map() -> Document:
    """A (4, 2) parameter, rows 0-1 on rank 0, rows 2-3 on rank 1."""
    return {
        "logical_shape": [4, 2],
        "ranks": {
            str(rank): {
                "shard_shape": [2, 2],
                "pieces": [
                    {
                        "shape": [2, 2],
                        "source": [4 * rank, [2, 1]],
                        "dest": [0, [2, 1]],
                        "locations": [rank],
                    }
                ],
            }
            for rank in range(2)
        },
    }


def edited(document: Document, path: tuple[str | int, ...], value: object) -> Document:
    """A copy with the value at ``path`` replaced (or added)."""
    result = copy.deepcopy(document)
    target: Any = result
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return result


def refusal_of(reading: Callable[[], object]) -> FormatError | None:
    """The refusal that reading ends in, None when it succeeds. Any other exception is a failure."""
    try:
        reading()
    except FormatError as error:
        return error
    return None


def without(document: Document, path: tuple[str | int, ...]) -> Document:
    """A copy without the value at ``path``."""
    result = copy.deepcopy(document)
    target: Any = result
    for step in path[:-1]:
        target = target[step]
    del target[path[-1]]
    return result


def as_bytes(document: object) -> bytes:
    return json.dumps(document).encode()


def archive(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as writer:
        for name, data in members:
            writer.writestr(name, data)
    return buffer.getvalue()


_SMALL = st.integers(0, 5)
_WIDE = st.integers(-(2**70), 2**70)


@st.composite
def pieces(draw: st.DrawFn, ranks: list[int]) -> Document:
    shape = draw(st.lists(_SMALL, max_size=3))
    strides = st.lists(_WIDE, min_size=len(shape), max_size=len(shape))
    piece: Document = {
        "shape": shape,
        "source": [draw(_WIDE), draw(strides)],
        "dest": [draw(_WIDE), draw(strides)],
        "locations": draw(st.lists(st.sampled_from(ranks), unique=True)),
    }
    if draw(st.booleans()):
        piece["scale"] = draw(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9))
    return piece


@st.composite
def maps(draw: st.DrawFn) -> Document:
    """Any well-formed map, right or wrong."""
    ranks = draw(st.lists(st.integers(0, 12), unique=True, min_size=1, max_size=3))
    return {
        "logical_shape": draw(st.lists(_SMALL, max_size=3)),
        "ranks": {
            str(rank): {
                "shard_shape": draw(st.lists(_SMALL, max_size=3)),
                "pieces": draw(st.lists(pieces(ranks), max_size=3)),
            }
            for rank in ranks
        },
    }
