"""What a layout says of arguments it cannot be built from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class BadLayout(ValueError):  # noqa: N818 - names what is wrong, as the errors of the model do
    """An argument that describes no layout.

    Attributes:
        argument: its name, with the place inside it where there is one: ``widths[2]``.
        reason: the rest of the sentence.
    """

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(argument, reason)
        self.argument = argument
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.argument} {self.reason}"


@contextmanager
def too_large(argument: str) -> Iterator[None]:
    """Turns the refusal of a number by the model into one of the argument that it was made of."""
    try:
        yield
    except BadLayout:
        raise
    except ValueError as error:
        raise BadLayout(argument, f"is too large: {error}") from None
