"""The strict oracle tells every difference, every unwritten cell and every kind of refusal apart."""

import random
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the strict oracle compares tensors of torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from fuzz.cases import Selection, case_at  # noqa: E402
from fuzz.consumers.classes import Class  # noqa: E402
from fuzz.consumers.strict import (  # noqa: E402
    Attempt,
    attempt,
    cut,
    divides_exactly,
    parameter,
    read,
    said_by,
)
from fuzz.layouts import LAYOUTS  # noqa: E402
from verifier.model.shard_map import ShardMap  # noqa: E402

seeds = st.integers(0, 2**32)


class SaidNoError(Exception):
    pass


def right_map(seed: int) -> ShardMap:
    rng = random.Random(seed)
    return LAYOUTS[rng.choice(sorted(LAYOUTS.keys() - {"empties"}))](rng, 60)[0]


def made(result: object, expected: object, *, right: bool = False) -> Attempt:
    return attempt(lambda: result, expected, names=(SaidNoError,), right=right)  # type: ignore[arg-type,return-value]


@given(seeds)
def test_elements_are_distinct_positive_integers(seed: int) -> None:
    shard_map = right_map(seed)
    full = parameter(shard_map)
    assert full.dtype == torch.float64
    assert tuple(full.shape) == shard_map.logical_shape
    values = full.flatten().tolist()
    assert len(set(values)) == shard_map.numel
    assert all(value > 0 and value == int(value) for value in values)


def test_every_map_has_elements_of_its_own() -> None:
    seen: dict[tuple[object, ...], set[float]] = {}
    maps = [case_at(Selection(size=24), 4, index).clean for index in range(200)]
    for shard_map in maps:
        values = parameter(shard_map).flatten().tolist()
        place = shard_map.logical_shape, divides_exactly(shard_map)
        if place[1]:
            assert not seen.setdefault(place, set()) & set(values)
            seen[place] |= set(values)
        assert torch.equal(parameter(shard_map), parameter(shard_map))
    renamed = [parameter(replace(maps[0], name=name)) for name in ("1:2", "1:3")]
    assert not torch.equal(*renamed)


@given(seeds)
def test_shards_are_what_torch_copies_and_scales_divide_exactly(seed: int) -> None:
    shard_map = right_map(seed)
    full = parameter(shard_map)
    for rank, shard in cut(shard_map, full).items():
        held = shard_map.ranks[rank]
        assert tuple(shard.shape) == held.shard_shape
        expected = torch.full((held.numel,), torch.nan, dtype=torch.float64)
        for piece in held.pieces:
            if piece.is_empty:
                continue
            source = torch.as_strided(full, piece.shape, piece.source.strides, piece.source.offset)
            dest = torch.as_strided(expected, piece.shape, piece.dest.strides, piece.dest.offset)
            dest.copy_(source * float(piece.scale))
            assert torch.equal(dest / float(piece.scale), source)
        assert torch.equal(shard.flatten().nan_to_num(nan=-1), expected.nan_to_num(nan=-1))


@given(seeds, st.data())
def test_any_changed_element_is_silently_wrong(seed: int, data: st.DataObject) -> None:
    shards = cut(right_map(seed), parameter(right_map(seed)))
    copies = {rank: shard.clone() for rank, shard in shards.items()}
    assert made(copies, shards) == Attempt(Class.EXACT, uninitialised=False, words="")
    filled = [rank for rank, shard in shards.items() if shard.numel()]
    if not filled:
        return
    rank = data.draw(st.sampled_from(filled))
    at = data.draw(st.integers(0, shards[rank].numel() - 1))
    written = not copies[rank].view(-1)[at].isnan()
    value = data.draw(st.sampled_from([0.0, -1.0, torch.nan] if written else [0.0, -1.0]))
    copies[rank].view(-1)[at] = value
    found = made(copies, shards)
    assert found.klass is Class.SILENT
    assert found.uninitialised == (value != value)
    assert found.words.startswith(f"rank {rank}: 1 of {shards[rank].numel()} elements differ, first {at}:")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (torch.ones(3, 2), "shape (3, 2) instead of (2, 3)"),
        (torch.ones(2, 2), "shape (2, 2) instead of (2, 3)"),
        (torch.ones(2, 3, dtype=torch.float64), "torch.float64 instead of torch.float32"),
    ],
)
def test_shape_and_type_count(result: torch.Tensor, words: str) -> None:
    assert made(result, torch.ones(2, 3)) == Attempt(Class.SILENT, uninitialised=False, words=words)


def test_what_is_returned_is_read_into_memory_of_its_own() -> None:
    held = torch.arange(6.0, dtype=torch.float64, requires_grad=True)
    every_other = held.reshape(2, 3)[:, ::2]
    found = read(every_other)
    assert found.tolist() == [[0.0, 2.0], [3.0, 5.0]]
    assert found.is_contiguous()
    assert not found.requires_grad
    assert torch.equal(read(every_other.detach().numpy()), found)
    assert torch.equal(read(torch._neg_view(held)), -held.detach())
    assert read(np.float64(3.0)).item() == 3.0


@pytest.mark.parametrize(
    "made",
    [
        None,
        "full",
        torch.empty(3, device="meta"),
        torch.zeros(3).to_sparse(),
        np.array([object()]),
        np.zeros(3, dtype=">f8"),
    ],
)
def test_what_has_no_elements_to_read_is_refused(made: object) -> None:
    with pytest.raises((TypeError, NotImplementedError, RuntimeError, ValueError)):
        read(made)


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (SystemExit(3), "SystemExit: 3"),
        (ValueError(object.__repr__(object)), "ValueError: <type object at 0x...>"),
        (ValueError("\ud800"), "ValueError: \\ud800"),
        (SilentError(), "SilentError: without words"),
    ],
)
def test_words_of_an_exception(error: BaseException, words: str) -> None:
    assert said_by(error) == words


def test_missing_ranks_count() -> None:
    found = made({0: torch.ones(1)}, {0: torch.ones(1), 3: torch.ones(1)})
    assert found == Attempt(Class.SILENT, uninitialised=False, words="ranks [0] instead of [0, 3]")


def test_bits_count_and_not_values() -> None:
    nans = torch.tensor([0x7FF8000000000001, 0x7FF8000000000002]).view(torch.float64)
    assert made(nans.clone(), nans).klass is Class.EXACT
    assert made(nans.flip(0), nans).klass is Class.SILENT
    assert made(torch.tensor([-0.0]), torch.tensor([0.0])).klass is Class.SILENT


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_memory_that_nobody_wrote_is_seen(dtype: torch.dtype) -> None:
    def half_written() -> torch.Tensor:
        result = torch.empty(4, dtype=dtype)
        result[:2] = 1
        return result

    found = attempt(half_written, torch.ones(4, dtype=dtype), names=(), right=False)
    assert (found.klass, found.uninitialised) == (Class.SILENT, True)


@pytest.mark.parametrize(
    ("error", "right", "klass"),
    [
        (SaidNoError("3 twice"), False, Class.REFUSED),
        (SaidNoError("3 twice"), True, Class.REFUSED_RIGHT),
        (RuntimeError("no room"), False, Class.RAISED),
        (RuntimeError("no room"), True, Class.REFUSED_RIGHT),
    ],
)
def test_refusals_by_name_and_right(error: Exception, right: bool, klass: Class) -> None:
    def refuse() -> torch.Tensor:
        raise error

    found = attempt(refuse, torch.ones(1), names=(SaidNoError,), right=right)
    assert found == Attempt(klass, uninitialised=False, words=f"{type(error).__name__}: {error}")
