"""Maps of loaders that fill a parameter part by part, as serving engines do."""

from collections.abc import Callable, Hashable

import pytest
import torch

from verifier import Proved, Refuted, check_map, same_function
from verifier.layouts import qkv
from verifier.oracle.lift import lift_loader
from verifier.oracle.lift_calls import Loading
from verifier.oracle.lift_errors import (
    BadTargetError,
    CallFailedError,
    LiftError,
    NotAGatherError,
    NotATensorError,
    TooLargeError,
)
from verifier.oracle.lifted import compare_lifted

HEADS, KV_HEADS, HEAD_DIM, HIDDEN = 8, 2, 3, 5
PARTS: dict[Hashable, tuple[int, ...]] = {
    "q": (HEADS * HEAD_DIM, HIDDEN),
    "k": (KV_HEADS * HEAD_DIM, HIDDEN),
    "v": (KV_HEADS * HEAD_DIM, HIDDEN),
}


def qkv_loading(rank: int, world: int, dtype: torch.dtype = torch.bfloat16) -> Loading:
    """A fused projection whose heads of keys and values are fewer than the ranks."""
    heads, copies = HEADS // world, max(1, world // KV_HEADS)
    kv_heads = max(1, KV_HEADS // world)
    sizes = {"q": heads * HEAD_DIM, "k": kv_heads * HEAD_DIM, "v": kv_heads * HEAD_DIM}
    starts = {"q": 0, "k": sizes["q"], "v": sizes["q"] + sizes["k"]}

    def load(parameter: torch.Tensor, loaded: torch.Tensor, shard_id: Hashable) -> None:
        size = sizes[str(shard_id)]
        position = rank if shard_id == "q" else rank // copies
        own = loaded.narrow(0, position * size, size)
        parameter.data.narrow(0, starts[str(shard_id)], size).copy_(own)

    parameter = torch.nn.Parameter(torch.empty(sum(sizes.values()), HIDDEN, dtype=dtype), requires_grad=False)
    return Loading(parameter, load, PARTS)


@pytest.mark.parametrize("world", [1, 2, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int8], ids=str)
def test_a_fused_projection_is_its_reference(world: int, dtype: torch.dtype) -> None:
    lifted = lift_loader(lambda rank, ranks: qkv_loading(rank, ranks, dtype), world)
    reference = qkv(HEADS, KV_HEADS, HEAD_DIM, HIDDEN, world)
    assert isinstance(same_function(lifted.shard_map, reference), Proved)
    assert isinstance(check_map(lifted.shard_map).verdict, Proved)
    assert compare_lifted(lifted, reference) == ()
    assert lifted.probe.startswith(str(dtype))


def one_part(shape: tuple[int, ...], load: Callable[..., None], numel: int) -> Callable[[int, int], Loading]:
    def loading(rank: int, world: int) -> Loading:
        def bound(parameter: torch.Tensor, loaded: torch.Tensor, shard_id: Hashable) -> None:
            load(rank, world, parameter, loaded)

        return Loading(torch.empty(numel, *shape[1:]), bound, {None: shape})

    return loading


def test_a_naive_chunk_of_a_fused_projection_tiles_and_is_another_function() -> None:
    fused = (sum(rows for rows, _ in PARTS.values()), HIDDEN)

    def load(rank: int, world: int, parameter: torch.Tensor, loaded: torch.Tensor) -> None:
        parameter.data.copy_(loaded.chunk(world)[rank])

    lifted = lift_loader(one_part(fused, load, fused[0] // 2), 2)
    assert isinstance(check_map(lifted.shard_map).verdict, Proved)
    reference = qkv(HEADS, KV_HEADS, HEAD_DIM, HIDDEN, 2)
    assert isinstance(same_function(lifted.shard_map, reference), Refuted)
    first, _ = compare_lifted(lifted, reference)
    at = HEADS // 2 * HEAD_DIM * HIDDEN
    assert (first.rank, first.cell, first.lifted) == (0, at, f"element {at}")


def vocabulary(rank: int, world: int, parameter: torch.Tensor, loaded: torch.Tensor) -> None:
    rows = len(parameter)
    own = loaded[rank * rows : (rank + 1) * rows]
    parameter.data[: len(own)].copy_(own)
    parameter.data[len(own) :].fill_(0)


def test_padding_that_is_filled_is_padding() -> None:
    lifted = lift_loader(one_part((7, 2), vocabulary, 4), 2)
    assert lifted.expectation().holes == {1: (6, 7)}
    assert lifted.unwritten == {}


def test_cells_that_keep_what_they_held_are_unwritten() -> None:
    def load(rank: int, world: int, parameter: torch.Tensor, loaded: torch.Tensor) -> None:
        own = loaded[rank * 4 : (rank + 1) * 4]
        parameter.data[: len(own)].copy_(own)

    lifted = lift_loader(one_part((7, 2), load, 4), 2)
    assert lifted.unwritten == {1: 2}
    assert lifted.padding == {}


def test_every_rank_loading_the_first_shard_leaves_elements_unheld() -> None:
    def load(rank: int, world: int, parameter: torch.Tensor, loaded: torch.Tensor) -> None:
        parameter.data.copy_(loaded.chunk(world)[0])

    lifted = lift_loader(one_part((8, 2), load, 4), 2)
    assert lifted.unheld == 8
    assert {p.locations for _, _, p in lifted.shard_map.pieces()} == {(0, 1)}


def test_loaders_may_keep_state() -> None:
    def loading(rank: int, world: int) -> Loading:
        parts: list[Hashable] = []

        def load(parameter: torch.Tensor, loaded: torch.Tensor, shard_id: Hashable) -> None:
            if shard_id in parts:
                raise KeyError(f"{shard_id} is loaded twice")
            parts.append(shard_id)
            parameter.data[len(parts) - 1].copy_(loaded[0])

        return Loading(torch.empty(2, 3), load, {"up": (1, 3), "gate": (1, 3)})

    assert [p.numel for _, _, p in lift_loader(loading, 1).shard_map.pieces()] == [6]


@pytest.mark.parametrize(
    ("load", "error"),
    [
        (lambda rank, world, parameter, loaded: parameter.data.add_(loaded), NotAGatherError),
        (lambda rank, world, parameter, loaded: parameter.data.copy_(loaded.mean()), NotAGatherError),
        (lambda rank, world, parameter, loaded: parameter.data.copy_(loaded[:3]), CallFailedError),
    ],
    ids=["adds to what is there", "a mean", "a wrong size"],
)
def test_loaders_that_do_not_copy_are_refused_by_name(
    load: Callable[..., None], error: type[LiftError]
) -> None:
    with pytest.raises(error):
        lift_loader(one_part((4, 2), load, 4), 2)


def ignoring(parameter: torch.Tensor, loaded: torch.Tensor, shard_id: Hashable) -> None:
    """Loads nothing."""


@pytest.mark.parametrize(
    ("loading", "error"),
    [
        (lambda rank, world: None, BadTargetError),
        (lambda rank, world: [][rank], CallFailedError),
        (lambda parameter, loaded, shard_id: None, CallFailedError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, [(2, 3)]), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: (2, -3)}), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: "23"}), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: (2, 3)}, dim="0"), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: (2**30, 3)}), TooLargeError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {}), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: (2, 3), 1: (2, 4)}), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: (2, 3)}, dim=2), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1), ignoring, {0: (2 + rank, 3)}), BadTargetError),
        (lambda rank, world: Loading(torch.empty(1, device="meta"), ignoring, {0: (2, 3)}), NotATensorError),
    ],
    ids=[
        *(
            "nothing",
            "it raises",
            "a weight loader itself",
            "parts without ids",
            "a negative extent",
            "a text",
        ),
        *("a dimension as text", "too many elements", "no parts", "parts that do not join"),
        *("no such dimension", "ranks disagree", "no memory"),
    ],
)
def test_what_describes_no_loading_is_refused(
    loading: Callable[[int, int], Loading], error: type[LiftError]
) -> None:
    with pytest.raises(error):
        lift_loader(loading, 2)


def test_parts_may_be_joined_along_the_last_dimension() -> None:
    def loading(rank: int, world: int) -> Loading:
        def load(parameter: torch.Tensor, loaded: torch.Tensor, shard_id: Hashable) -> None:
            width = loaded.shape[1] // world
            start = 0 if shard_id == "gate" else 4 // world
            parameter.data[:, start : start + width].copy_(loaded[:, rank * width : (rank + 1) * width])

        return Loading(torch.empty(3, 10 // world), load, {"gate": (3, 4), "up": (3, 6)}, dim=-1)

    lifted = lift_loader(loading, 2)
    assert lifted.shard_map.logical_shape == (3, 10)
    found = [(p.source.offset, p.shape) for _, _, p in lifted.shard_map.pieces()]
    assert found == [(0, (3, 2)), (4, (3, 3)), (2, (3, 2)), (7, (3, 3))]
