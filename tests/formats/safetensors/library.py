"""The safetensors library as the tests ask it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import safetensors

_deserialize: Callable[[bytes], Any] = safetensors.deserialize


def complaint(data: bytes) -> str | None:
    """What the library has against a file, None when it opens it."""
    try:
        _deserialize(data)
    except safetensors.SafetensorError as error:
        return str(error)
    return None
