"""The inputs that fuzzing starts from: what they are named for, and that none shows a fault."""

from pathlib import Path

import pytest

from fuzz.targets.bytes_random import BytesRandom, case_from
from fuzz.targets.catalogue import NAMES, SEEDS
from fuzz.targets.replaying import replay
from fuzz.targets.seeds import LAYOUTS, seeds_of

MOST_SEEDS, MOST_BYTES = 40, 4096
CASE_AT = {"map_documents": 4, "geometry": 0, "certificates": 4}
"""Decisions of a target before those of its case."""


def files(target: str) -> list[Path]:
    return sorted((SEEDS / target).iterdir())


@pytest.mark.parametrize("target", NAMES)
def test_no_seed_shows_a_fault(target: str) -> None:
    assert [str(failure) for failure in replay(target, files(target))] == []


@pytest.mark.parametrize("target", NAMES)
def test_seeds_are_few_and_small(target: str) -> None:
    assert len(files(target)) <= MOST_SEEDS
    assert all(path.stat().st_size < MOST_BYTES for path in files(target))


@pytest.mark.parametrize("target", NAMES)
def test_the_written_seeds_are_there(target: str) -> None:
    stored = {path.name: path.read_bytes() for path in files(target)}
    assert {name: stored.get(name) for name, _ in seeds_of(target)} == dict(seeds_of(target)), (
        "write them with python -m fuzz.targets.seeds"
    )


@pytest.mark.parametrize("target", CASE_AT)
def test_a_seed_makes_the_layout_it_is_named_for(target: str) -> None:
    for name, data in seeds_of(target):
        if name.startswith("layout-"):
            case = case_from(BytesRandom(data[CASE_AT[target] :]))
            assert name == f"layout-{case.layout}"
    assert {f"layout-{layout}" for layout in LAYOUTS} <= {name for name, _ in seeds_of(target)}
