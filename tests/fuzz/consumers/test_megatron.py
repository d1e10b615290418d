"""Megatron's check of shards. What needs Megatron-Core is skipped where it is not installed."""

import pickle
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError

import pytest

from fuzz.campaign import run_case
from fuzz.cases import Selection
from fuzz.consumers.boxes import Box, Chunk
from fuzz.consumers.megatron import (
    IRREGULAR,
    REGULAR,
    MegatronImportError,
    MegatronTarget,
    check,
    grid_of,
    validation,
)
from fuzz.outcomes import DISAGREEMENT, SILENT, Tally

SMALL = Selection(size=40)


@pytest.fixture(scope="module")
def installed() -> None:
    try:
        validation()
    except MegatronImportError as error:
        pytest.skip(str(error))


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Nothing is remembered of imports, before and after."""
    validation.cache_clear()
    yield
    validation.cache_clear()


def on_ranks(*boxes: Box) -> list[Chunk]:
    return [Chunk(rank, box) for rank, box in enumerate(boxes)]


def tally_of(target: MegatronTarget, cases: int) -> Tally:
    found = Tally()
    for index in range(cases):
        found.merge(run_case(target, 5, index))
    return found


@pytest.mark.usefixtures("forgotten")
def test_where_it_is_not_installed_the_target_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("fuzz.consumers.megatron.version_of", missing)
    with pytest.raises(MegatronImportError, match="pip install --no-deps megatron-core"):
        MegatronTarget()


@pytest.mark.parametrize(
    ("boxes", "shape", "grid"),
    [
        ([Box((0,), (4,))], (4,), (1,)),
        ([Box((0, 0), (2, 3)), Box((2, 0), (2, 3))], (4, 6), (2, 2)),
        ([Box((0, 0), (2, 3)), Box((1, 0), (2, 3))], (4, 6), None),
        ([Box((0, 0), (2, 3)), Box((2, 0), (2, 2))], (4, 6), None),
        ([Box((0,), (3,))], (4,), None),
        ([Box((0,), (0,))], (4,), None),
        ([Box((0, 0), (3, 0))], (3, 0), (1, 1)),
        ([Box((), ())], (), ()),
    ],
)
def test_grids(boxes: Sequence[Box], shape: Sequence[int], grid: tuple[int, ...] | None) -> None:
    assert grid_of(boxes, shape) == grid


@pytest.mark.usefixtures("installed")
class TestInstalled:
    def test_a_grid_whose_cells_are_all_there_is_right(self) -> None:
        check((4,), on_ranks(Box((0,), (2,)), Box((2,), (2,))), (2,))

    @pytest.mark.parametrize("boxes", [[Box((0,), (2,))], [Box((0,), (2,)), Box((0,), (2,))]])
    def test_a_missing_and_a_doubled_cell_are_refused(self, boxes: Sequence[Box]) -> None:
        with pytest.raises(validation().CheckpointingException, match="Invalid access pattern"):
            check((4,), on_ranks(*boxes), (2,))

    def test_a_grid_of_half_the_parameter_is_accepted(self) -> None:
        check((16,), on_ranks(*(Box((2 * at,), (2,)) for at in range(4))), (4,))

    def test_an_irregular_grid_is_not_looked_at(self) -> None:
        check((16,), on_ranks(Box((3,), (5,)), Box((3,), (5,))), None)

    def test_a_shard_of_nothing_divides_by_zero(self) -> None:
        with pytest.raises(ZeroDivisionError):
            check((3, 0), on_ranks(Box((0, 0), (3, 0))), (1, 1))

    def test_the_target_finds_both(self) -> None:
        found = tally_of(MegatronTarget(SMALL), 420)
        keys = {example.key.partition(": ")[0] for example in found.findings(SILENT)}
        assert {f"{IRREGULAR} chunk-dropped", f"{REGULAR} chunk-size"} <= keys
        assert not found.seen(DISAGREEMENT)
        assert found.row("prover", "with reference").keys() == {"refuted"}
        outcomes = found.row("outcome", REGULAR)
        assert min(outcomes["refused by name"], outcomes["still exact"]) > 30

    def test_the_same_cases_give_the_same_tally_also_in_another_process(self) -> None:
        target = MegatronTarget(SMALL)
        travelled = pickle.loads(pickle.dumps(target))
        assert travelled == target
        assert tally_of(travelled, 40) == tally_of(target, 40)
