"""Exceptions of others in one line, whatever their own text does."""

from __future__ import annotations


def words_of(error: BaseException) -> str:
    """``ValueError: too many rows``; the class alone where the text cannot be made."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:  # __str__ of others, which may want more than the exception has
        return name
