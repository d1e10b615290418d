"""What a value is, without where it lies: two of them are equal where no bit is told apart.

Tensors and numbers are compared by their bytes: equal NaNs are equal, and -0.0 is not 0.0. Containers are
compared with all they hold, and other objects by what pickle would write of them. What cannot be taken apart,
as a lock or an open file, is compared by its type alone.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

Content = Any
"""Nested tuples of text, numbers and bytes, the same in every process."""

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
DEEPEST = 40


def bits(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Dtype, shape and bytes of a tensor."""
    about = (str(tensor.dtype), str(tensor.layout), str(tensor.device), tuple(tensor.shape))
    if tensor.is_meta:
        return about
    if tensor.layout != torch.strided:
        return (*about, _raw(tensor.detach().to_dense()))
    return (*about, _raw(tensor.detach()))


def content(value: Any) -> Content:
    """Type and content of any value."""
    return _content(value, ())


def _content(value: Any, within: tuple[int, ...]) -> Content:
    if isinstance(value, PLAIN):
        return type(value).__name__, repr(value)
    if isinstance(value, torch.Tensor):
        return "tensor", bits(value)
    if isinstance(value, _NAMED):
        return "named", getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__)
    if id(value) in within or len(within) > DEEPEST:
        return "again", type(value).__name__
    return type(value).__qualname__, _parts(value, (*within, id(value)))


def _parts(value: Any, within: tuple[int, ...]) -> Content:
    """What a container or another object holds."""
    if isinstance(value, Mapping):
        return _sorted((_content(key, within), _content(item, within)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return _sorted(_content(item, within) for item in value)
    if isinstance(value, list | tuple):
        return tuple([_content(item, within) for item in value])
    try:
        reduced = value.__reduce_ex__(4)
    except Exception as error:  # it cannot be pickled, so nobody knows what is in it
        return "closed", type(error).__name__
    if isinstance(reduced, str):
        return reduced
    # Items of lists and dicts are handed out as iterators.
    return tuple([_content(list(p) if isinstance(p, Iterator) else p, within) for p in reduced])


def _sorted(items: Iterable[Content]) -> Content:
    return tuple(sorted(items, key=repr))


def _raw(tensor: torch.Tensor) -> bytes:
    flat = tensor.cpu().contiguous().view(-1)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""
