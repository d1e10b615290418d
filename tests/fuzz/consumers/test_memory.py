"""What nobody wrote reads as NaN, and everything is as before afterwards."""

import numpy as np
import pytest
import torch

from fuzz.consumers.memory import poisoned_memory


@pytest.mark.parametrize("mode", ["default", "warn", "error"])
@pytest.mark.parametrize("fills", [True, False])
def test_the_settings_of_torch_come_back(mode: str, fills: bool) -> None:
    memory = torch.utils.deterministic

    def settings() -> tuple[int, bool]:
        return torch.get_deterministic_debug_mode(), memory.fill_uninitialized_memory

    before = settings()
    torch.set_deterministic_debug_mode(mode)
    memory.fill_uninitialized_memory = fills
    changed = settings()
    try:
        with poisoned_memory():
            assert torch.empty(3).isnan().all()
        assert settings() == changed
        with pytest.raises(KeyboardInterrupt), poisoned_memory():
            raise KeyboardInterrupt
        assert settings() == changed
    finally:
        torch.set_deterministic_debug_mode(before[0])
        memory.fill_uninitialized_memory = before[1]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.complex64])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_numbers_of_numpy_are_none(dtype: type, shape: tuple[int, ...]) -> None:
    with poisoned_memory():
        made = np.empty(shape, dtype=dtype), np.empty_like(np.zeros(shape, dtype=dtype))
    for one in made:
        assert (one.shape, one.dtype) == (shape, np.dtype(dtype))
        assert np.isnan(one).all()


def test_other_types_of_numpy() -> None:
    record = np.dtype([("at", np.int16), ("value", np.float32)])
    with poisoned_memory():
        assert (np.empty(2, np.int8) == 127).all()
        assert (np.empty(2, np.uint16) == 2**16 - 1).all()
        assert np.empty(2, bool).all()
        assert np.empty(2, object).tolist() == [None, None]
        assert np.empty(2, record)["at"].tolist() == [2**15 - 1] * 2
        assert np.isnan(np.empty((), record)["value"])
        assert np.empty(2, "U3").shape == (2,)


def test_functions_of_numpy_come_back() -> None:
    before = np.empty, np.empty_like
    with pytest.raises(KeyboardInterrupt), poisoned_memory():
        raise KeyboardInterrupt
    assert (np.empty, np.empty_like) == before
