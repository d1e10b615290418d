"""Where a value came from: a file and a JSON pointer inside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in a document.

    ``file`` is shown to people as given on the command line, never made absolute. ``pointer`` is an
    RFC 6901 JSON pointer; for pickled files it is the same path through the object they hold.
    """

    file: str
    pointer: str = ""

    def child(self, *keys: str | int) -> Origin:
        """The place of a value below this one."""
        escaped = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)
        return Origin(self.file, self.pointer + escaped)

    def __str__(self) -> str:
        return f"{self.file}  ({self.pointer})" if self.pointer else self.file
