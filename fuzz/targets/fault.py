"""What a target raises."""

from __future__ import annotations


class Fault(AssertionError):  # noqa: N818 - the word for what was found
    """Something of ours did what it must not do; the message shows what is needed to see it."""


def demand(truth: object, message: str, *values: object) -> None:
    """Raise a Fault unless it is true; the message is put together only then."""
    if not truth:
        raise Fault(message.format(*values))
