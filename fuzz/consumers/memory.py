"""Memory that is allocated without values, made to show: what nobody wrote reads as NaN."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import torch
import torch.utils.deterministic

MEMORY: Any = torch.utils.deterministic
"""Its attributes are properties that the types of torch do not know."""
DETERMINISTIC_BUT_WARN = 1
"""The mode of torch that fills new memory and refuses nothing for it."""
ALLOCATING = ("empty", "empty_like")
"""The functions of numpy that give memory as it is. ``numpy.ndarray`` does too, but is a type and stays."""

_ONE_AT_A_TIME = threading.RLock()
"""The settings are those of the process: a thread that left would take them from another one."""


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """Memory that torch or numpy allocates without values holds NaN (the largest number for integers).

    One thread at a time.
    """
    with _ONE_AT_A_TIME, _filled_by_torch(), _filled_by_numpy():
        yield


@contextmanager
def _filled_by_torch() -> Iterator[None]:
    mode, fills = torch.get_deterministic_debug_mode(), MEMORY.fill_uninitialized_memory
    torch.set_deterministic_debug_mode(DETERMINISTIC_BUT_WARN)
    MEMORY.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(mode)
        MEMORY.fill_uninitialized_memory = fills


@contextmanager
def _filled_by_numpy() -> Iterator[None]:
    before = {name: getattr(np, name) for name in ALLOCATING}
    for name, allocate in before.items():
        setattr(np, name, _filling(allocate))
    try:
        yield
    finally:
        for name, allocate in before.items():
            setattr(np, name, allocate)


def _filling(allocate: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(allocate)
    def filled(*args: Any, **kwargs: Any) -> Any:
        made = allocate(*args, **kwargs)
        if isinstance(made, np.ndarray):
            _fill(made)
        return made

    return filled


def _fill(array: np.ndarray[Any, Any]) -> None:
    """Objects and texts stay: numpy initialises the ones, and the others are no data of a parameter."""
    if array.dtype.names is not None:
        for name in array.dtype.names:
            _fill(array[name])
    elif array.dtype.kind in "fc":
        array.fill(np.nan)
    elif array.dtype.kind in "iu":
        array.fill(np.iinfo(array.dtype).max)
    elif array.dtype.kind == "b":
        array.fill(True)
