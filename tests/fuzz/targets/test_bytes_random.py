"""Random numbers from bytes: everything can be driven, and every draw ends whatever the bytes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.cases import Selection
from fuzz.mutants import MUTANTS
from fuzz.targets.bytes_random import SMALL, BytesRandom, case_from
from fuzz.walk import walk

LAYOUTS = SMALL.layouts
DULL = (b"", bytes(4096), b"\xff" * 4096, b"\x55" * 4096)


@pytest.mark.parametrize("tail", DULL, ids=["none", "zeros", "ones", "alternating"])
def test_dull_bytes_come_to_an_end_for_every_layout_and_mutant(tail: bytes) -> None:
    made = [case_from(BytesRandom(bytes([at]) + tail)).layout for at in range(len(LAYOUTS))]
    assert made == list(LAYOUTS)
    for mutant in MUTANTS:
        chosen = Selection(size=32, mutants=(mutant,), right=0.0)
        for at in range(0, len(LAYOUTS), 4):
            assert case_from(BytesRandom(bytes([at, 0, 0]) + tail), chosen).mutant in (mutant, None)


@given(st.binary(max_size=400))
@settings(max_examples=150, deadline=None)
def test_the_same_bytes_are_the_same_case(data: bytes) -> None:
    first, second = case_from(BytesRandom(data)), case_from(BytesRandom(data))
    # By their words: a scale that is no number is not equal to itself.
    assert repr(first) == repr(second)
    assert first.layout in LAYOUTS


def test_every_mutant_is_reached() -> None:
    seen = set()
    for at in range(len(MUTANTS)):
        for layout in range(len(LAYOUTS)):
            data = bytes([layout, 255, at, 0]) + random.Random(at).randbytes(200)
            seen.add(case_from(BytesRandom(data)).mutant)
    assert seen >= set(MUTANTS)


def test_a_case_without_a_mutant_is_right() -> None:
    for at, layout in enumerate(LAYOUTS):
        case = case_from(BytesRandom(bytes([at, 0, 0]) + random.Random(at).randbytes(200)))
        assert (case.layout, case.mutant) == (layout, None)
        assert walk(case.shard_map, case.expectation).ok


@given(st.binary(max_size=40), st.lists(st.integers(0, 70), max_size=12))
def test_bits_are_taken_in_whole_bytes(data: bytes, widths: list[int]) -> None:
    rng, at = BytesRandom(data), 0
    for width in widths:
        size = -(-width // 8)
        expected = int.from_bytes((data + bytes(99))[at : at + size], "little") % 2**width
        at = min(len(data), at + size)
        assert rng.getrandbits(width) == expected
    assert rng.rest() == data[at:]


@given(st.binary(max_size=60), st.integers(0, 60))
def test_a_sample_has_each_member_once(data: bytes, k: int) -> None:
    chosen = BytesRandom(data).sample(range(60), k)
    assert len(chosen) == len(set(chosen)) == k
    assert set(chosen) <= set(range(60))


def test_a_sample_of_many_ends_without_bytes() -> None:
    assert BytesRandom(b"").sample(range(10_000), 3) == [0, 1, 2]
    assert sorted(BytesRandom(b"\xff" * 9).sample("ab", 3, counts=[2, 1])) == ["a", "a", "b"]
    with pytest.raises(ValueError, match="3 of 2"):
        BytesRandom(b"").sample("ab", 3)


def test_one_byte_more_changes_one_decision() -> None:
    before, after = BytesRandom(bytes([1, 2, 3, 4])), BytesRandom(bytes([1, 9, 3, 4]))
    drawn = [[rng.randrange(16) for _ in range(4)] for rng in (before, after)]
    assert drawn == [[1, 2, 3, 4], [1, 9, 3, 4]]
