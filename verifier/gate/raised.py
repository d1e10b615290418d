"""Exceptions that are meant for the caller of a constructor, and those that are accidents."""

from __future__ import annotations

import dis
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verifier.gate.loading import Loaded


def is_by_name(loaded: Loaded, error: BaseException) -> bool:
    """An exception class of the constructor's packages, or one that their code raised itself, with words."""
    if not isinstance(error, Exception) or not _has_words(error):
        return False
    if loaded.owns(type(error)):
        return True
    if not isinstance(error, ValueError | TypeError | IndexError) or error.__traceback__ is None:
        return False
    last = _last(error.__traceback__)
    return loaded.owns_module(str(last.tb_frame.f_globals.get("__name__", ""))) and _raised_there(last)


def _has_words(error: Exception) -> bool:
    try:
        return bool(str(error).strip())
    except Exception:  # code of others, which may fail as any
        return False


def is_interruption(error: BaseException) -> bool:
    """Somebody stops this process: Ctrl-C arrives wherever the code is, and not where it says ``raise``."""
    if not isinstance(error, KeyboardInterrupt) or error.__traceback__ is None:
        return isinstance(error, KeyboardInterrupt)
    return not _raised_there(_last(error.__traceback__))


def _last(traceback: TracebackType) -> TracebackType:
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _raised_there(traceback: TracebackType) -> bool:
    """Whether the instruction is a ``raise`` of the code's own, not an operation that failed."""
    return any(
        one.opname == "RAISE_VARARGS" and one.offset == traceback.tb_lasti
        for one in dis.get_instructions(traceback.tb_frame.f_code)
    )
