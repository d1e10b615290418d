"""The mutants that the tests of readers use: reproducible, different, and of every size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.formats.mutating import MOST_CHANGES, MOST_SPAN, mutants


@given(st.binary(max_size=64), st.integers(0, 9))
def test_a_seed_stands_for_its_mutants(data: bytes, seed: int) -> None:
    first = list(mutants(data, seed=seed, count=20))
    assert first == list(mutants(data, seed=seed, count=20))
    assert first[:5] == list(mutants(data, seed=seed, count=5))
    assert max(map(len, first)) <= len(data) + MOST_CHANGES * max(MOST_SPAN, 20)


def test_mutants_differ_from_their_original_and_from_each_other() -> None:
    data = bytes(range(256)) * 8
    made = list(mutants(data, seed=1, count=500))
    assert sum(mutant == data for mutant in made) <= 5
    assert len(set(made)) > 480
    sizes = {len(mutant) - len(data) for mutant in made}
    assert min(sizes) < -MOST_SPAN
    assert 0 in sizes
    assert max(sizes) > MOST_SPAN // 2
