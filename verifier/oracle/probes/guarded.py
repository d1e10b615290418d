"""Tensors that end where the process may not read on: whoever goes past their end is ended, and not by luck.

Without this a kernel that reads past a short state tensor finds other memory there: it crashes, or trains on
rubbish, as the allocator likes.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import torch

PAGE = mmap.PAGESIZE
_NO_ACCESS = 0
_KEPT: list[mmap.mmap] = []
"""Memory stays mapped as long as the process lives, which is one case."""


def guarded(tensor: torch.Tensor) -> torch.Tensor:
    """A copy whose last byte is the last of its page; the page behind it cannot be touched.

    A tensor that is empty, not dense or not in memory of the CPU is returned as it is, and so is every one
    where pages cannot be protected.
    """
    size = tensor.numel() * tensor.element_size()
    if not size or tensor.is_meta or tensor.layout != torch.strided or not tensor.is_contiguous():
        return tensor
    if (
        tensor.device.type != "cpu"
        or type(tensor) is not torch.Tensor
        or not sys.platform.startswith("linux")
    ):
        return tensor
    room = -(-size // PAGE) * PAGE
    memory = mmap.mmap(-1, room + PAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(begin + room), ctypes.c_size_t(PAGE), _NO_ACCESS):
        return tensor
    _KEPT.append(memory)
    copy = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel(), offset=room - size)
    return copy.copy_(tensor.reshape(-1)).view(tensor.shape)


def guarded_state(value: Any) -> Any:
    """A state dict with every tensor in it guarded."""
    if isinstance(value, torch.Tensor):
        return guarded(value)
    if type(value) is dict:
        return {key: guarded_state(item) for key, item in value.items()}
    return [guarded_state(item) for item in value] if type(value) is list else value
