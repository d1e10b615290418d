"""What replays say of maps whose fate is known."""

from dataclasses import replace
from fractions import Fraction

import pytest
import torch

from tests.oracle.devices import DEVICES
from tests.oracle.right_maps import piece, shard_map
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.oracle.errors import DeviceUnavailableError
from verifier.oracle.outcome import Drift
from verifier.oracle.replay import replay, replay_strict


def two_column_pieces(second_dest: int):
    """(4, 8) over two ranks; rank 0 holds its four columns as two pieces."""
    halves = [
        piece((4, 2), (0, (8, 1)), (0, (4, 1)), [0]),
        piece((4, 2), (4, (8, 1)), (second_dest, (4, 1)), [0]),
    ]
    rest = [
        piece((4, 2), (2, (8, 1)), (0, (4, 1)), [1]),
        piece((4, 2), (6, (8, 1)), (2, (4, 1)), [1]),
    ]
    return shard_map((4, 8), {0: ((4, 4), halves), 1: ((4, 4), rest)})


@pytest.mark.parametrize("device", DEVICES)
def test_a_shifted_column_changes_four_elements(device: str) -> None:
    """Accepted by counting elements: the volumes add up, and no dense interval overlaps."""
    result = replay(two_column_pieces(1), device=device)
    assert result.outcome == "differs"
    assert (result.changed, result.total, result.unwritten) == (4, 32, 0)
    assert result.first == (1, 1, 4)
    assert (result.holes, result.rewritten, result.repeated) == (4, 4, 0)
    assert result.torch_version == torch.__version__
    assert result.device.startswith(device)
    assert replay(two_column_pieces(2), device=device).outcome == "exact"


@pytest.mark.parametrize("device", DEVICES)
def test_strict_reads_the_memory_that_is_there(device: str) -> None:
    good, bad = two_column_pieces(2), two_column_pieces(1)
    result = replay_strict(good, bad, device=device)
    assert result.outcome == "differs"
    assert result.changed == 8
    assert result.first == (4, 4, 1)
    assert replay_strict(good, good, device=device).outcome == "exact"


def test_a_valid_map_of_another_function_is_exact_alone_and_differs_strictly() -> None:
    good = two_column_pieces(2)
    first, second = good.ranks[0].pieces
    swapped = (replace(first, source=second.source), replace(second, source=first.source))
    other = replace(good, ranks={**good.ranks, 0: replace(good.ranks[0], pieces=swapped)})
    assert replay(other).outcome == "exact"
    result = replay_strict(good, other)
    assert (result.outcome, result.changed, result.first) == ("differs", 16, (0, 0, 4))


def test_an_element_nobody_holds_comes_back_unwritten() -> None:
    m = shard_map((4,), {0: ((3,), [piece((3,), (1, (1,)), (0, (1,)), [0])])})
    result = replay(m)
    assert (result.outcome, result.unwritten, result.changed) == ("unwritten", 1, 0)
    assert result.first == (0, 0, None)
    assert replay(m, expectation=Expectation(gaps=(0,))).outcome == "exact"
    assert replay(m, expectation=Expectation(gaps=(1,))).outcome == "unwritten"
    assert replay(m, expectation=Expectation(cover=False)).outcome == "exact"


def test_a_shard_cell_nobody_writes_is_unwritten_though_all_elements_come_back() -> None:
    m = shard_map((3,), {2: ((5,), [piece((3,), (0, (1,)), (1, (1,)), [2])])})
    result = replay(m)
    assert (result.outcome, result.holes, result.unwritten) == ("unwritten", 2, 0)
    assert replay(m, expectation=Expectation(holes={2: (0, 4)})).outcome == "exact"
    assert replay(m, expectation=Expectation(holes={2: (0,)})).holes == 1
    assert replay(m, expectation=Expectation(holes={2: (0, 4, 77)})).outcome == "exact"


def test_strict_sees_unwritten_memory_of_the_trusted_map() -> None:
    trusted = shard_map((3,), {0: ((4,), [piece((3,), (0, (1,)), (0, (1,)), [0])])})
    suspect = shard_map((3,), {0: ((4,), [piece((3,), (0, (1,)), (1, (1,)), [0])])})
    result = replay_strict(trusted, suspect, expectation=Expectation(holes={0: (0,)}))
    assert (result.outcome, result.changed, result.unwritten) == ("differs", 2, 1)
    assert result.first == (0, 0, 1)


def test_a_wrong_replica_shows_though_the_values_come_back() -> None:
    def replicated(first_source: int):
        return shard_map(
            (4,),
            {
                0: (
                    (4,),
                    [
                        piece((2,), (first_source, (1,)), (0, (1,)), [0, 1]),
                        piece((2,), (2 - first_source, (1,)), (2, (1,)), [0, 1]),
                    ],
                ),
                1: ((4,), [piece((4,), (0, (1,)), (0, (1,)), [0, 1])]),
            },
        )

    result = replay_strict(replicated(0), replicated(2))
    assert result.outcome == "replicas-differ"
    assert result.drift == Drift(0, 0, 1)
    assert (result.changed, result.unwritten) == (0, 0)


def test_the_least_wrong_replica_is_named_over_all_rounds() -> None:
    """A bool carries one binary digit a round: element 2 disagrees in the first, element 1 in the second."""
    whole = piece((4,), (0, (1,)), (0, (1,)), [0, 1])
    trusted = shard_map((4,), {r: ((4,), [whole]) for r in (0, 1)})
    cells = [piece((1,), (a, (1,)), (max(a, 3) if a else 0, (1,)), [0, 1]) for a in range(4)]
    suspect = shard_map((4,), {0: ((4,), [whole]), 1: ((4,), cells)})
    result = replay_strict(trusted, suspect, dtype=torch.bool)
    assert result.drift == Drift(1, 0, 1)
    assert (result.changed, result.first) == (2, (1, 1, 3))


def test_shards_of_other_shape_are_read_flat_and_named() -> None:
    trusted = shard_map((6,), {0: ((2, 3), [piece((6,), (0, (1,)), (0, (1,)), [0])])})
    suspect = shard_map((6,), {0: ((3, 2), [piece((6,), (0, (1,)), (0, (1,)), [0])])})
    result = replay_strict(trusted, suspect)
    assert result.outcome == "exact"
    assert result.reason == "rank 0 has a shard of (2, 3) in the reference, of (3, 2) in the map"
    smaller = shard_map((6,), {0: ((5,), [piece((5,), (0, (1,)), (0, (1,)), [0])])})
    result = replay_strict(smaller, suspect)
    assert result.outcome == "raises"
    assert result.error is not None
    assert result.error.startswith("rank 0, piece 0: ")


def test_a_rank_without_memory_raises_and_other_parameters_are_skipped() -> None:
    m = two_column_pieces(2)
    only = replace(m, ranks={0: m.ranks[0]})
    result = replay_strict(only, m)
    assert (result.outcome, result.error) == ("raises", "rank 1: there is no shard of this rank")
    assert result.reason == "the reference has ranks [0], the map [0, 1]"
    result = replay_strict(shard_map((3,), {}), m)
    assert (result.outcome, result.reason) == (
        "skipped",
        "the reference is about 3 elements, the map about 32",
    )


def test_maps_with_nothing_in_them() -> None:
    assert replay(shard_map((0, 4), {})).outcome == "exact"
    assert replay(shard_map((0, 4), {0: ((0,), [])})).outcome == "exact"
    result = replay(shard_map((2, 2), {}))
    assert (result.outcome, result.unwritten, result.first) == ("unwritten", 4, (0, 0, None))
    scalar = shard_map((), {0: ((), [piece((), (0, ()), (0, ()), [0])])})
    assert replay(scalar).outcome == "exact"


def test_the_budget_counts_what_is_moved_and_allocates_nothing_beyond() -> None:
    m = two_column_pieces(2)
    assert replay(m, element_budget=96).outcome == "exact"
    result = replay(m, element_budget=95)
    assert (result.outcome, result.reason) == ("skipped", "96 elements would be moved, the budget is 95")
    huge = shard_map((2**40, 2**40), {0: ((1,), [])})
    assert replay(huge).outcome == "skipped"
    spread = shard_map((1,), {0: ((1,), [piece((2**40,), (0, (0,)), (0, (0,)), [0])])})
    assert replay(spread).outcome == "skipped"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "scale", [Fraction(3), Fraction(1, 3), Fraction(0.1), Fraction(2) ** 1000, Fraction(5e-324), Fraction(-7)]
)
def test_scales_are_undone_to_the_bit(scale: Fraction, device: str) -> None:
    numel = 300
    m = shard_map((numel,), {0: ((numel,), [piece((numel,), (0, (1,)), (0, (1,)), [0], scale)])})
    result = replay(m, device=device)
    assert (result.outcome, result.dtype) == ("exact", "float64")
    next_double = Fraction(
        torch.nextafter(torch.tensor(float(scale), dtype=torch.float64), torch.ones(1)).item()
    )
    other = shard_map((numel,), {0: ((numel,), [piece((numel,), (0, (1,)), (0, (1,)), [0], next_double)])})
    result = replay_strict(m, other, device=device)
    if next_double == 0:
        assert result.changed == numel
    else:
        assert (result.outcome, result.changed) == ("differs", numel), "one ulp is seen in every element"


@pytest.mark.parametrize("scale", [Fraction(0), float("inf"), float("nan"), float("-inf")])
def test_scales_that_cannot_be_undone_lose_everything(scale) -> None:
    m = shard_map((4,), {0: ((4,), [piece((4,), (0, (1,)), (0, (1,)), [0], scale)])})
    result = replay(m)
    assert (result.outcome, result.changed) == ("differs", 4)


def test_scales_too_far_apart_are_skipped() -> None:
    far = [Fraction(2) ** 1023, Fraction(5e-324)]
    pieces = [piece((1,), (k, (1,)), (k, (1,)), [0], s) for k, s in enumerate(far)]
    result = replay(shard_map((2,), {0: ((2,), pieces)}))
    assert result.outcome == "skipped"
    assert "too far apart" in (result.reason or "")


def test_a_lookup_table_is_only_cut() -> None:
    """Groups of two columns share a scale row; rank 0 reads each element twice, through a stride of 0."""
    lookup = Expectation(lookup=True)

    def table(second: int):
        held = [piece((2, 2), (0, (1, 0)), (0, (2, 1)), [0]), piece((1,), (second, (1,)), (4, (1,)), [0])]
        return shard_map((4,), {0: ((5,), held)})

    assert replay(table(2)).outcome == "raises", "nothing can be written back through a stride of 0"
    assert replay(table(2), expectation=lookup).outcome == "exact"
    assert replay_strict(table(2), table(2), expectation=lookup).outcome == "exact"
    result = replay_strict(table(2), table(3), expectation=lookup)
    assert (result.outcome, result.changed, result.total) == ("differs", 1, 5)
    assert (result.first, result.first_rank) == ((4, 2, 3), 0)
    larger = shard_map((4,), {0: ((6,), list(table(2).ranks[0].pieces))})
    assert replay(larger, expectation=lookup).holes == 1
    assert replay_strict(table(2), larger, expectation=lookup).outcome == "skipped"


def test_a_view_of_the_wrong_bounds_raises_with_its_place() -> None:
    m = two_column_pieces(2)
    first, second = m.ranks[1].pieces
    past = replace(second, dest=StridedView(3, second.shape, second.dest.strides))
    result = replay(replace(m, ranks={**m.ranks, 1: replace(m.ranks[1], pieces=(first, past))}))
    assert result.outcome == "raises"
    assert result.error is not None
    assert result.error.startswith("rank 1, piece 1: ")
    assert (result.changed, result.first) == (0, None)


@pytest.mark.parametrize(
    ("device", "said"),
    [("potato", "not a device"), ("meta", "holds no data"), ("cuda:4095", "not available to torch")],
)
def test_a_device_that_does_not_exist_is_an_error(device: str, said: str) -> None:
    with pytest.raises(DeviceUnavailableError, match=said):
        replay(two_column_pieces(2), device=device)
