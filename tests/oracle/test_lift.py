"""The map lifted from a function is what the function does; what is no map is refused by name."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from fuzz.layouts import LAYOUTS
from tests.oracle.devices import DEVICES
from tests.oracle.right_maps import right_map
from verifier import Proved, Refuted, check_map, same_function
from verifier.layouts import contiguous, replicated, vocabulary
from verifier.model.expectation import Expectation
from verifier.model.piece import exact_scale
from verifier.model.shard_map import ShardMap
from verifier.oracle.execute import extract
from verifier.oracle.lift import lift
from verifier.oracle.lift_blocks import addresses
from verifier.oracle.lift_errors import (
    BadTargetError,
    CallFailedError,
    DataDependentError,
    DtypeDependentError,
    LiftError,
    NotAGatherError,
    NotATensorError,
    NotDeterministicError,
    TooCoarseError,
    TooLargeError,
)
from verifier.oracle.lifted import Difference, Lifted, compare_lifted

Partition = Callable[[torch.Tensor, int, int], torch.Tensor]


def applying(shard_map: ShardMap) -> Partition:
    return lambda tensor, rank, world: extract(tensor, shard_map, rank, device=tensor.device)


def with_doubles(shard_map: ShardMap) -> ShardMap:
    """The map with scales that a double can hold."""
    ranks = {
        rank: replace(
            shard, pieces=tuple(replace(p, scale=exact_scale(float(p.scale))) for p in shard.pieces)
        )
        for rank, shard in shard_map.ranks.items()
    }
    return replace(shard_map, ranks=ranks)


def left_out(shard_map: ShardMap) -> dict[int, int]:
    """How many cells of each rank no piece writes."""
    written = {
        rank: {int(cell) for piece in shard.pieces for cell in addresses(piece.dest)}
        for rank, shard in shard_map.ranks.items()
    }
    counts = {rank: shard.numel - len(written[rank]) for rank, shard in shard_map.ranks.items()}
    return {rank: count for rank, count in counts.items() if count}


def rows(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
    return tensor.chunk(world)[rank]


def padded_rows(fill: float | None) -> Partition:
    """Shards of equal size; what is left of the last is constant, or memory nobody writes."""

    def function(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
        each = -(-len(tensor) // world)
        mine = tensor[rank * each : (rank + 1) * each]
        shape = (each, *tensor.shape[1:])
        made = tensor.new_empty(shape) if fill is None else tensor.new_full(shape, fill)
        made[: len(mine)] = mine
        return made

    return function


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(3))
def test_lifting_a_function_that_applies_a_map_gives_the_map(seed: int, device: str) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        known = with_doubles(right_map(rng))
        lifted = lift(applying(known), known.logical_shape, list(known.ranks), device=device)
        assert isinstance(same_function(lifted.shard_map, known), Proved), (known, lifted)
        assert isinstance(check_map(lifted.shard_map).verdict, Proved), lifted
        assert compare_lifted(lifted, known) == ()
        assert (lifted.padding, lifted.unwritten, lifted.unheld) == ({}, {}, 0)


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_lifting_every_layout_of_the_fuzzer(name: str) -> None:
    rng = random.Random(name)
    tried = 0
    for _ in range(8):
        posed, _ = LAYOUTS[name](rng, 120)
        known = with_doubles(posed)
        if not known.ranks:
            continue
        lifted = lift(applying(known), known.logical_shape, list(known.ranks), dtype=torch.float64)
        assert isinstance(same_function(lifted.shard_map, known), Proved), (known, lifted)
        assert lifted.unwritten == left_out(known)
        tried += 1
    assert tried


@pytest.mark.parametrize(
    "dtype",
    [
        *(
            torch.float64,
            torch.float32,
            torch.float16,
            torch.bfloat16,
            torch.float8_e4m3fn,
            torch.float8_e5m2,
        ),
        *(torch.int32, torch.int16, torch.int8, torch.uint8),
    ],
    ids=str,
)
@pytest.mark.parametrize("inside", [False, True], ids=["result", "inside"])
def test_functions_that_force_a_dtype_are_asked_in_digits(dtype: torch.dtype, inside: bool) -> None:
    def function(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
        made = tensor.chunk(world, dim=1)[rank].to(dtype)
        return made.to(torch.float32) if inside else made

    if inside and dtype in (torch.int8, torch.uint8, torch.float8_e4m3fn):
        with pytest.raises(NotAGatherError):  # they cut off or wrap around; values beyond show it
            lift(function, (40, 30), 2)
        return
    lifted = lift(function, (40, 30), 2)
    assert isinstance(same_function(lifted.shard_map, contiguous((40, 30), [15, 15], 1)), Proved)
    assert lifted.probe.startswith("torch.float32" if inside else str(dtype))


@pytest.mark.parametrize("factor", [0.5, -2.0, 3.0, 1 / 3, 0.1, 1e-8])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_a_factor_is_the_scale(factor: float, dtype: torch.dtype) -> None:
    lifted = lift(lambda tensor, rank, world: (tensor * factor).to(dtype), (20, 7), 2)
    expected = exact_scale(float(torch.tensor(factor, dtype=torch.float32).to(dtype)))
    if dtype == torch.float64:
        expected = exact_scale(float(torch.tensor(factor, dtype=torch.float32)))
    assert isinstance(same_function(lifted.shard_map, replicated((20, 7), 2, scale=float(expected))), Proved)
    assert any("multiplied" in note for note in lifted.notes)


def test_factors_that_differ_by_element_make_pieces_of_their_own() -> None:
    factors = torch.tensor([1.0, 2.0, 2.0, 0.25])[:, None]
    lifted = lift(lambda tensor, rank, world: tensor * factors, (4, 3), 1)
    found = [(p.source.offset, p.numel, float(p.scale)) for _, _, p in lifted.shard_map.pieces()]
    assert found == [(0, 3, 1.0), (3, 6, 2.0), (9, 3, 0.25)]


def test_constant_cells_are_padding() -> None:
    lifted = lift(padded_rows(-7), (7, 2), 2)
    assert isinstance(check_map(lifted.shard_map, expectation=lifted.expectation()).verdict, Proved)
    assert isinstance(check_map(lifted.shard_map).verdict, Refuted)
    assert lifted.expectation() == Expectation(holes={1: (6, 7)})
    assert lifted.notes == ("rank 1: 2 of 8 cells are constant: -7",)
    assert compare_lifted(lifted, vocabulary(7, 2, 2).shard_map) == ()


def test_cells_that_nobody_writes_are_no_padding() -> None:
    lifted = lift(padded_rows(None), (7, 2), 2)
    assert lifted.unwritten == {1: 2}
    assert lifted.expectation() == Expectation()
    assert check_map(lifted.shard_map).findings[0][1].code == "SM203"


def test_elements_that_nobody_holds_are_reported() -> None:
    lifted = lift(lambda t, rank, world: t[rank * (len(t) // world) :][: len(t) // world], (7, 2), 2)
    assert lifted.unheld == 2
    assert lifted.notes == ("2 elements are held by no rank, the first is 12",)
    assert check_map(lifted.shard_map).findings[0][1].code == "SM301"


def test_replicas_are_found_by_what_ranks_hold() -> None:
    lifted = lift(lambda t, rank, world: t.view(2, 4, 8)[rank // 2], (8, 8), 4)
    assert [p.locations for _, _, p in lifted.shard_map.pieces()] == [(0, 1), (0, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda t, r, w: rows(t, r, w).sum(0), NotAGatherError),
        (lambda t, r, w: rows(t, r, w).double().mean(0), NotAGatherError),
        (lambda t, r, w: rows(t, r, w) + rows(t, r, w).roll(1), NotAGatherError),
        (lambda t, r, w: rows(t, r, w) + 1, NotAGatherError),
        (lambda t, r, w: rows(t, r, w).abs(), NotAGatherError),
        (lambda t, r, w: rows(t, r, w).clamp(-100, 100), NotAGatherError),
        (lambda t, r, w: rows(t, r, w) ** 3, NotAGatherError),
        (lambda t, r, w: rows(t, r, w).sort(0).values, NotAGatherError),
        (lambda t, r, w: rows(t, r, w) > 0, TooCoarseError),
        (lambda t, r, w: rows(t, r, w).nonzero(), DataDependentError),
        (lambda t, r, w: t[torch.randperm(len(t))], NotDeterministicError),
        (lambda t, r, w: rows(t, r, 0), CallFailedError),
        (lambda t, r, w: None, NotATensorError),
        (lambda t, r, w: t.tolist(), NotATensorError),
        (lambda t, r, w: t.to("meta"), NotATensorError),
        (lambda t, r, w: t.double().to_sparse(), NotATensorError),
        (lambda t, r, w: t.to(torch.complex64), NotATensorError),
    ],
)
def test_what_is_no_map_is_refused_by_name(function: Partition, error: type[LiftError]) -> None:
    with pytest.raises(error) as raised:
        lift(function, (6, 4), 2)
    assert raised.value.rank == 0


def test_a_factor_that_is_rounded_needs_more_bits_than_the_narrowest_dtype_has() -> None:
    with pytest.raises(TooCoarseError):
        lift(lambda t, r, w: (rows(t, r, w) * 0.375).to(torch.float8_e5m2), (6, 4), 2)


@pytest.mark.parametrize(
    ("shape", "ranks"), [((-1,), 1), ((2.0,), 1), ((4,), 0), ((4,), [1, 1]), ((4,), [-1])]
)
def test_what_is_no_shape_and_no_ranks_is_refused(shape: tuple[int, ...], ranks: int | list[int]) -> None:
    with pytest.raises(BadTargetError):
        lift(rows, shape, ranks)


def test_a_function_that_refuses_integers_is_given_floats() -> None:
    def function(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
        if not tensor.is_floating_point():
            raise TypeError("weights are floats")
        return rows(tensor, rank, world)

    assert lift(function, (6, 4), 2).probe == "torch.float64, 1 digit pass"


def test_integers_that_are_truncated_are_not_believed() -> None:
    lifted = lift(lambda t, r, w: (rows(t, r, w) * 0.4).to(t.dtype), (6, 4), 2)
    assert [float(p.scale) for _, _, p in lifted.shard_map.pieces()] == [0.4, 0.4]


def test_settings_of_torch_are_left_as_they_were() -> None:
    assert not torch.are_deterministic_algorithms_enabled()
    lift(rows, (6, 4), 2)
    with pytest.raises(CallFailedError):
        lift(lambda t, r, w: rows(t, r, 0), (6, 4), 2)
    assert not torch.are_deterministic_algorithms_enabled()


def swapped(lifted: Lifted) -> ShardMap:
    """The map with the shards of its two ranks exchanged."""
    ranks = lifted.shard_map.ranks
    return replace(lifted.shard_map, ranks={0: ranks[1], 1: ranks[0]})


def test_differences_name_the_first_cell() -> None:
    lifted = lift(rows, (6, 4), 2)
    found = compare_lifted(lifted, swapped(lifted))
    assert found == (
        Difference(0, 0, 12, "element 0", "element 12"),
        Difference(1, 0, 12, "element 12", "element 0"),
    )
    assert str(found[0]) == (
        "rank 0, shard address 0: the code has element 0, the map element 12 (and 11 more)"
    )


def test_the_wrong_axis_of_a_square_weight_is_a_difference() -> None:
    lifted = lift(lambda t, rank, world: t.chunk(world, dim=1)[rank].contiguous(), (4, 4), 2)
    (first, _) = compare_lifted(lifted, contiguous((4, 4), [2, 2]))
    assert (first.lifted, first.declared) == ("a shard of (4, 2)", "one of (2, 4)")
    assert len(compare_lifted(lifted, contiguous((4, 4), [2, 1, 1]))) == 1
    assert len(compare_lifted(lifted, contiguous((4, 6), [2, 2]))) == 1


def test_a_scale_is_a_difference() -> None:
    lifted = lift(lambda t, rank, world: t * 2, (3,), 1)
    (found,) = compare_lifted(lifted, replicated((3,), 1))
    assert (found.count, found.lifted, found.declared) == (3, "element 0 times 2", "element 0")


def shuffled(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
    order = torch.randperm(tensor.numel(), generator=torch.Generator().manual_seed(0))
    return tensor.reshape(-1)[order]


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("lift.MOST_ELEMENTS", 300, "a tensor of \\(20, 20\\) has more than 300 elements"),
        ("lift_asking.MOST_CELLS", 300, "its shard and those before it have more than 300 cells"),
        ("lift_blocks.MOST_BLOCKS", 100, "the cells of one rank fall apart into [0-9]+ blocks"),
    ],
)
def test_what_is_too_large_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, words: str
) -> None:
    assert lift(shuffled, (20, 20), 2).unheld == 0
    monkeypatch.setattr(f"verifier.oracle.{limit}", most)
    with pytest.raises(TooLargeError, match=words):
        lift(shuffled, (20, 20), 2)


def test_a_lack_of_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("verifier.oracle.lift_asking.cells_of", fails)
    with pytest.raises(TooLargeError, match="not enough memory"):
        lift(rows, (4, 4), 2)


def floats_first_rows(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
    return rows(tensor, 0 if tensor.is_floating_point() else rank, world)


def floats_summed(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
    return rows(tensor, rank, world) + int(tensor.is_floating_point())


def floats_padded_by_one(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
    padding = torch.full((1,), int(tensor.is_floating_point()), dtype=tensor.dtype)
    return torch.cat([rows(tensor, rank, world).reshape(-1), padding])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            floats_first_rows,
            "rank 1: shard address 0 is element 12 for a tensor of torch.int64, "
            "and element 0 for one of torch.float32",
        ),
        (floats_summed, "and none for one of torch.float32: rank 0: shard address 0 is 1, 2, 3, 0"),
        (floats_padded_by_one, "shard address 12 is always 0 for .* and always 1 for"),
        (lambda t, r, w: rows(t, r, w) * (1 + t.is_floating_point()), "and element 0 times 2 for"),
        (lambda t, r, w: rows(t, r, w)[int(t.is_floating_point()) :], r"of \(3, 4\) for .* of \(2, 4\) for"),
    ],
)
def test_a_function_that_does_something_else_in_floating_point_has_no_map(
    function: Partition, words: str
) -> None:
    with pytest.raises(DtypeDependentError, match=words):
        lift(function, (6, 4), 2)


def test_what_answers_for_integers_is_asked_again_in_the_first_floating_dtype_that_it_takes() -> None:
    def no_single(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
        if tensor.dtype == torch.float32:
            raise TypeError("no float32")
        return rows(tensor, rank, world)

    def integers_only(tensor: torch.Tensor, rank: int, world: int) -> torch.Tensor:
        if tensor.is_floating_point():
            raise TypeError("integers, please")
        return rows(tensor, rank, world)

    assert lift(rows, (6, 4), 2).dtypes == ("torch.int64", "torch.float32")
    assert lift(no_single, (6, 4), 2).dtypes == ("torch.int64", "torch.bfloat16")
    lifted = lift(integers_only, (6, 4), 2)
    assert lifted.dtypes == ("torch.int64",)
    assert [note for note in lifted.notes if "integers, please" in note]
    assert lift(rows, (6, 4), 2, dtype=torch.float16).dtypes == ("torch.float16",)


def test_each_tensor_is_made_once_for_all_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []
    default_rng = np.random.default_rng

    def counted(seed: object) -> np.random.Generator:
        drawn.append(seed)
        return default_rng(seed)  # type: ignore[arg-type]

    monkeypatch.setattr("verifier.oracle.lift_sent.np.random.default_rng", counted)
    lift(rows, (16, 4), 1, dtype=torch.int64)
    for_one = len(drawn)
    lift(rows, (16, 4), 8, dtype=torch.int64)
    assert len(drawn) == 2 * for_one


def test_progress_ends_where_all_that_is_known_is_done() -> None:
    told: list[tuple[int, int]] = []
    lift(rows, (16, 4), 4, done=lambda done, more: told.append((done, more)))
    assert sum(done for done, _ in told) == sum(more for _, more in told) == 2 * 4
