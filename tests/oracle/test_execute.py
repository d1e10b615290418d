"""Extract and rebuild on tensors of the caller."""

from fractions import Fraction

import pytest
import torch

from tests.oracle.devices import DEVICES
from tests.oracle.right_maps import piece, shard_map
from verifier.oracle.buffers import Poison
from verifier.oracle.errors import RefusedError
from verifier.oracle.execute import extract, rebuild
from verifier.oracle.outcome import Drift

COLUMNS = shard_map(
    (4, 6),
    {
        0: ((4, 2), [piece((4, 2), (0, (6, 1)), (0, (2, 1)), [0])]),
        5: ((4, 4), [piece((4, 4), (2, (6, 1)), (0, (4, 1)), [5])]),
    },
)
REPLICATED = shard_map((4,), {r: ((4,), [piece((4,), (0, (1,)), (0, (1,)), [0, 1])]) for r in (0, 1)})


@pytest.mark.parametrize("device", DEVICES)
def test_columns_are_cut_and_rebuilt(device: str) -> None:
    full = torch.randn(4, 6, device=device)
    shards = {rank: extract(full, COLUMNS, rank, device=device) for rank in COLUMNS.ranks}
    assert torch.equal(shards[0], full[:, :2])
    assert torch.equal(shards[5], full[:, 2:])
    assert torch.equal(rebuild(shards, COLUMNS, device=device).full, full)


def test_a_parameter_that_is_not_contiguous_is_cut_by_its_elements() -> None:
    full = torch.arange(24.0).view(6, 4).t()
    assert torch.equal(extract(full, COLUMNS, 0), full[:, :2])


@pytest.mark.parametrize("poison", list(Poison))
def test_cells_that_nobody_writes_show_the_poison(poison: Poison) -> None:
    m = shard_map((2,), {0: ((4,), [piece((2,), (0, (1,)), (1, (1,)), [0])])})
    shard = extract(torch.tensor([7, 8]), m, 0, poison=poison)
    empty = 0 if poison is Poison.ZEROS else -1
    assert shard.tolist() == [empty, 7, 8, empty]
    rebuilt = rebuild(
        {0: shard}, shard_map((3,), {0: ((4,), [piece((2,), (1, (1,)), (1, (1,)), [0])])}), poison=poison
    )
    assert rebuilt.full.tolist() == [empty, 7, 8]


def test_the_tail_of_a_larger_storage_is_not_read() -> None:
    """A shard cut off the head of a larger buffer shares its storage; torch alone would read on."""
    head = torch.arange(10.0)[:4]
    past_the_end = shard_map((4,), {0: ((4,), [piece((4,), (0, (1,)), (2, (1,)), [0])])})
    assert head.as_strided((4,), (1,), 2).tolist() == [2, 3, 4, 5]
    with pytest.raises(RefusedError, match=r"rank 0, piece 0: .*out of bounds"):
        rebuild({0: head}, past_the_end)
    reads_past = shard_map((4,), {0: ((4,), [piece((4,), (2, (1,)), (0, (1,)), [0])])})
    with pytest.raises(RefusedError, match="out of bounds"):
        extract(head, reads_past, 0)


def test_later_pieces_overwrite_earlier_ones() -> None:
    m = shard_map(
        (4,),
        {0: ((2,), [piece((2,), (0, (1,)), (0, (1,)), [0]), piece((2,), (2, (1,)), (0, (1,)), [0])])},
    )
    assert extract(torch.arange(4), m, 0).tolist() == [2, 3]
    later = shard_map((1,), {r: ((1,), [piece((1,), (0, (1,)), (0, (1,)), [r])]) for r in (7, 2)})
    rebuilt = rebuild({7: torch.tensor([70]), 2: torch.tensor([20])}, later)
    assert rebuilt.full.tolist() == [70]
    assert rebuilt.drift is None, "nobody declared these two to be replicas"


def test_replicas_with_the_same_nan_agree_and_signed_zeros_do_not() -> None:
    good = torch.tensor([float("nan"), 0.0, -0.0, 1.0])
    assert rebuild({0: good, 1: good.clone()}, REPLICATED).drift is None
    other = torch.tensor([float("nan"), 0.0, 0.0, 2.0])
    assert rebuild({0: good, 1: other}, REPLICATED).drift == Drift(2, 0, 1)
    payload = torch.tensor([0x7FC00001], dtype=torch.int32).view(torch.float32)
    assert rebuild({0: good, 1: torch.cat([payload, good[1:]])}, REPLICATED).drift == Drift(0, 0, 1)


def test_replicas_cut_at_other_boundaries_are_compared() -> None:
    halves = [piece((2,), (0, (1,)), (0, (1,)), [0, 1]), piece((2,), (2, (1,)), (2, (1,)), [0, 1])]
    m = shard_map((4,), {0: ((4,), [piece((4,), (0, (1,)), (0, (1,)), [0, 1])]), 1: ((4,), halves)})
    shards = {0: torch.tensor([0, 1, 2, 3]), 1: torch.tensor([0, 1, 2, 9])}
    rebuilt = rebuild(shards, m)
    assert rebuilt.drift == Drift(3, 0, 1)
    assert rebuilt.full.tolist() == [0, 1, 2, 9]


def test_the_least_element_is_named_whatever_the_order_of_the_copy() -> None:
    columns = piece((2, 2), (0, (1, 2)), (0, (2, 1)), [0, 1])
    m = shard_map((2, 2), {r: ((2, 2), [columns]) for r in (0, 1)})
    shards = {0: torch.tensor([0, 2, 1, 3]), 1: torch.tensor([0, 9, 8, 3])}
    assert rebuild(shards, m).drift == Drift(1, 0, 1)


def test_a_declared_replica_is_compared_with_an_undeclared_one() -> None:
    alone = [piece((4,), (0, (1,)), (0, (1,)), [1])]
    m = shard_map((4,), {0: ((4,), [piece((4,), (0, (1,)), (0, (1,)), [0, 1])]), 1: ((4,), alone)})
    rebuilt = rebuild({0: torch.tensor([0, 1, 2, 3]), 1: torch.tensor([0, 8, 2, 3])}, m)
    assert rebuilt.drift == Drift(1, 0, 1)


def test_empty_pieces_touch_nothing_whatever_their_numbers() -> None:
    empty = piece((0, 3), (99, (-1, 1)), (-5, (1, 2**70)), [0, 1])
    ranks = {r: ((4,), [empty, *REPLICATED.ranks[r].pieces]) for r in (0, 1)}
    m = shard_map((4,), ranks)
    full = torch.arange(4)
    shards = {r: extract(full, m, r) for r in (0, 1)}
    rebuilt = rebuild(shards, m)
    assert rebuilt.full.tolist() == [0, 1, 2, 3]
    assert rebuilt.drift is None


def test_a_scale_multiplies_on_the_way_out_and_divides_on_the_way_back() -> None:
    m = shard_map((3,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)), [0], Fraction(1, 4))])})
    full = torch.tensor([1.0, 2.0, 3.0])
    shard = extract(full, m, 0)
    assert shard.tolist() == [0.25, 0.5, 0.75]
    assert rebuild({0: shard}, m).full.tolist() == [1.0, 2.0, 3.0]


def test_a_scale_on_integers_is_refused() -> None:
    m = shard_map((3,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)), [0], Fraction(1, 2))])})
    with pytest.raises(ValueError, match=r"rank 0, piece 0 has scale 1/2, which torch\.int64 cannot carry"):
        extract(torch.arange(3), m, 0)
    with pytest.raises(ValueError, match="cannot carry"):
        rebuild({0: torch.arange(3)}, m)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (piece((2,), (0, (-1,)), (0, (1,)), [0]), "Negative strides"),
        (piece((2,), (0, (1,)), (-1, (1,)), [0]), "storage offset"),
        (piece((2,), (0, (1,)), (0, (2**70,)), [0]), "Overflow"),
        (piece((2,), (2**63, (1,)), (0, (1,)), [0]), "Overflow"),
        (piece((3,), (0, (2**62,)), (0, (1,)), [0]), "overflow"),
        (piece((2,), (0, (1,)), (0, (0,)), [0]), "single memory location"),
    ],
)
def test_what_torch_refuses_names_the_piece(broken, said: str) -> None:
    m = shard_map((4,), {3: ((4,), [piece((1,), (0, (1,)), (0, (1,)), [3]), broken])})
    with pytest.raises(RefusedError, match=said) as refusal:
        extract(torch.arange(4), m, 3)
    assert (refusal.value.rank, refusal.value.piece) == (3, 1)
    assert "\n" not in refusal.value.text


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"shape \(24,\), but the map is about \(4, 6\)"):
        extract(torch.arange(24), COLUMNS, 0)
    with pytest.raises(ValueError, match=r"no rank 1; it has \[0, 5\]"):
        extract(torch.zeros(4, 6), COLUMNS, 1)
    with pytest.raises(ValueError, match="none"):
        rebuild({}, COLUMNS)
    with pytest.raises(ValueError, match="one dtype"):
        rebuild({0: torch.zeros(8), 5: torch.zeros(16, dtype=torch.int64)}, COLUMNS)
    with pytest.raises(RefusedError, match="rank 5: there is no shard of this rank"):
        rebuild({0: torch.zeros(4, 2)}, COLUMNS)
