"""Every dtype that torch can copy carries every bit, and tells one element from another."""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.devices import DEVICES
from tests.oracle.right_maps import piece, right_map, shard_map
from verifier.model.piece import exact_scale
from verifier.oracle.buffers import Poison, dtype_named, poisoned, to_words, usable_device, word_bits, words
from verifier.oracle.errors import DeviceUnavailableError
from verifier.oracle.execute import extract, rebuild
from verifier.oracle.payload import AddressBits, PowersOfTwo, lowest_exponent
from verifier.oracle.replay import replay

NAMES = (
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    "float4_e2m1fn_x2",
)
DTYPES = [pytest.param(getattr(torch, name), id=name) for name in NAMES if hasattr(torch, name)]


def transposed(side: int, wrong: int = 0):
    """A square stored transposed over two ranks; ``wrong`` shifts what the second one reads."""
    half = side // 2
    return shard_map(
        (side, side),
        {
            r: (
                (half, side),
                [piece((side, half), (r * (half - wrong), (side, 1)), (0, (1, side)), [r])],
            )
            for r in (0, 1)
        },
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_payload_names_every_element_in_every_dtype(dtype: torch.dtype, device: str) -> None:
    """400 elements do not fit into a bool or a byte, so these take several rounds."""
    side = 20
    assert replay(transposed(side), dtype=dtype, device=device).outcome == "exact"
    result = replay(transposed(side, wrong=1), dtype=dtype, device=device)
    assert (result.outcome, result.unwritten, result.changed) == ("unwritten", side, 0)
    assert result.first == (side - 1, side - 1, None)
    good, bad = transposed(side), transposed(side, wrong=1)
    result = replay(bad, reference=good, dtype=dtype, device=device)
    assert (result.outcome, result.changed) == ("differs", 10 * side)
    assert result.first == (9, 9, 10)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_maps_are_exact_in_every_dtype(dtype: torch.dtype, device: str) -> None:
    rng = random.Random(1)
    for _ in range(12):
        m = right_map(rng)
        assert replay(m, dtype=dtype, device=device).outcome == "exact"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arbitrary_bits_survive_and_poison_is_all_or_nothing(dtype: torch.dtype, device: str) -> None:
    side, generator = 8, torch.Generator().manual_seed(0)
    high = 2 if dtype == torch.bool else 256
    raw = torch.randint(0, high, (side * side * dtype.itemsize,), generator=generator, dtype=torch.uint8)
    full = raw.to(device).view(dtype).view(side, side)
    m = transposed(side)
    shards = {rank: extract(full, m, rank, device=device) for rank in m.ranks}
    back = rebuild(shards, m, device=device).full
    assert torch.equal(to_words(back), to_words(full))
    where = usable_device(device)
    zeros = to_words(poisoned(5, dtype, where, Poison.ZEROS))
    ones = to_words(poisoned(5, dtype, where, Poison.ONES))
    mask = (1 << word_bits(dtype)) - 1
    assert {int(x) & mask for x in zeros.flatten()} == {0}
    assert {int(x) & mask for x in ones.flatten()} == {mask}
    assert poisoned(5, dtype, where, Poison.ONES).untyped_storage().nbytes() == 5 * dtype.itemsize


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounds_together_are_injective(dtype: torch.dtype) -> None:
    payload = AddressBits(1000, dtype, torch.device("cpu"))
    sent = payload.rounds()
    names = torch.cat([to_words(tensor).to(torch.int64) for tensor in sent], dim=1)
    assert names.shape == (1000, len(sent) * words(dtype))
    assert torch.unique(names, dim=0).shape[0] == 1000
    assert [payload.change(sent, sent, a) for a in (0, 1, 999)] == [(0, 0), (1, 1), (999, 999)]


def test_dtypes_without_a_copy_kernel_are_refused_before_the_map_is_blamed() -> None:
    if not hasattr(torch, "uint3"):
        pytest.skip(f"torch {torch.__version__} has no sub-byte integers")
    with pytest.raises(DeviceUnavailableError, match="cannot copy uint3 on 'cpu'"):
        replay(transposed(4), dtype=torch.uint3)
    with pytest.raises(DeviceUnavailableError, match="no dtype 'float31'"):
        dtype_named("float31")
    with pytest.raises(DeviceUnavailableError, match="no dtype 'nn'"):
        dtype_named("nn")


doubles = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0)


@settings(max_examples=100, deadline=None)
@given(st.lists(doubles, min_size=1, max_size=3))
def test_powers_of_two_survive_the_scales_they_were_chosen_for(numbers: list[float]) -> None:
    lowest = lowest_exponent([exact_scale(x) for x in numbers])
    if lowest is None:
        assert max(map(abs, numbers)) / 2.0**900 > min(map(abs, numbers)) or len(numbers) == 1
        return
    (first, second) = PowersOfTwo(4096, lowest, torch.device("cpu")).rounds()
    assert torch.unique(torch.stack([first, second], dim=1), dim=0).shape[0] == 4096
    for number in numbers:
        scale = torch.tensor(number, dtype=torch.float64)
        assert torch.equal(first * scale / scale, first)
        assert torch.equal(second * scale / scale, second)


def test_every_single_double_has_an_exponent() -> None:
    for number in (5e-324, 2.2250738585072014e-308, 0.1, 1.0, 3e200, 1.7976931348623157e308):
        assert lowest_exponent([exact_scale(number)]) is not None, number
