"""The answer of the child process: it comes back as it was, and anything else is refused."""

from __future__ import annotations

import io
import json
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.documents import SAMPLES
from tests.formats.mutating import mutants
from verifier.formats.dcp.contents import (
    NOWHERE,
    Contents,
    Nesting,
    Several,
    Storage,
    StoredObject,
    StoredTensor,
)
from verifier.formats.dcp.metadata import read_metadata
from verifier.formats.dcp.wire import WIDTH, WireError, decoded, encoded
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.limits import Limits
from verifier.model.box_map import COLUMN
from verifier.model.origin import Origin

FILE = "checkpoint/.metadata"
NAMES = st.text(max_size=5)
NUMBERS = st.integers(-(2**63), 2**63 - 1)


def column(numbers: st.SearchStrategy[int], length: int) -> st.SearchStrategy[array[int]]:
    return st.lists(numbers, min_size=length, max_size=length).map(lambda values: array(COLUMN, values))


@st.composite
def contents(draw: st.DrawFn) -> Contents:
    paths = tuple(draw(st.lists(NAMES, max_size=3, unique=True)))
    rows = draw(st.integers(0, 4))
    entries = st.integers(NOWHERE, rows - 1)
    several = st.none() | st.builds(Several, st.integers(0), NAMES)
    tensors = []
    for _ in range(draw(st.integers(0, 2))):
        shape = tuple(draw(st.lists(st.integers(0, 2**62), max_size=3)))
        count = draw(st.integers(0, 3))
        tensors.append(
            StoredTensor(
                name=draw(NAMES),
                dtype=draw(st.sampled_from(["float32", "bfloat16", "uint4"])),
                shape=shape,
                count=count,
                offsets=draw(column(NUMBERS, count * len(shape))),
                sizes=draw(column(st.integers(0, 2**63 - 1), count * len(shape))),
                entries=draw(column(entries, count)),
            )
        )
    return Contents(
        tensors=tuple(tensors),
        objects=tuple(draw(st.lists(st.builds(StoredObject, name=NAMES, entry=entries), max_size=2))),
        storage=Storage(
            paths=paths,
            path=draw(column(st.integers(NOWHERE, len(paths) - 1), rows)),
            start=draw(column(st.integers(0, 2**63 - 1), rows)),
            length=draw(column(st.integers(0, 2**63 - 1), rows)),
            coded=bytearray(draw(st.binary(min_size=rows, max_size=rows))),
            transforms=tuple(draw(st.lists(NAMES, max_size=2))),
        ),
        orphans=draw(several),
        repeated=draw(several),
        nesting=draw(st.builds(Nesting, **dict.fromkeys(Nesting.__slots__, several))),
        reformed=draw(st.dictionaries(NAMES, st.lists(st.integers(0), max_size=3).map(tuple), max_size=2)),
        tells_reformed=draw(st.none() | st.frozensets(NAMES, max_size=2)),
        refusals=tuple(
            Refusal(name=name, origin=Origin(FILE, "/x"), code="SM002", message="no", help="do")
            for name in draw(st.lists(NAMES, max_size=2))
        ),
    )


def answer(value: Contents) -> bytes:
    return b"".join(bytes(part) for part in encoded(value))


def reading(data: bytes) -> Contents:
    return decoded(io.BytesIO(data), len(data), FILE)


@given(contents())
def test_contents_come_back_as_they_were(value: Contents) -> None:
    assert reading(answer(value)) == value


@given(contents(), st.data())
def test_an_answer_that_is_cut_or_goes_on_is_refused(value: Contents, data: st.DataObject) -> None:
    whole = answer(value)
    cut = data.draw(st.integers(0, len(whole) - 1))
    for wrong in (whole[:cut], whole + b"\0"):
        with pytest.raises(WireError):
            reading(wrong)


def test_mutants_of_an_answer_are_refused_or_contents() -> None:
    path = SAMPLES / "dcp" / "shard0_w4" / ".metadata"
    whole = answer(read_metadata(path, Origin(FILE), Limits()))
    refused = 0
    for mutant in mutants(whole, seed=5, count=500):
        try:
            assert isinstance(reading(mutant), Contents)
        except WireError:
            refused += 1
    assert refused > 300


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rows", -1),
        ("rows", 10**18),
        ("rows", True),
        ("paths", [1]),
        ("tensors", [["w", "float99", [2], 0]]),
        ("tensors", [["w", "float32", [-2], 0]]),
        ("tensors", [["w", "float32", [2]]]),
        ("objects", [["w", 5]]),
        ("orphans", [1]),
        ("refusals", [["a", "b"]]),
        ("reformed", []),
    ],
)
def test_a_header_with_a_wrong_field_is_refused(field: str, value: object) -> None:
    whole = answer(Contents())
    header = json.loads(whole[WIDTH:]) | {field: value}
    text = json.dumps(header).encode()
    with pytest.raises(WireError):
        reading(len(text).to_bytes(WIDTH, "little") + text)
