"""What plain documents of maps must have together: one does not have to hold what another one does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from verifier.audit.references import Maps, lacking, matched
from verifier.formats import Document
from verifier.formats.reading.stated_shapes import PLAIN, Shapes, unstored_fault


@dataclass(slots=True)
class Together:
    """The plain documents of a run.

    Attributes:
        shapes: the stated shapes, None for none.
        references: the maps to compare with, None for none.
    """

    shapes: Shapes | None
    references: Maps | None
    _files: list[str] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def add(self, document: Document) -> None:
        """One more document of the run."""
        if document.kind in PLAIN:
            self._files.append(document.file)
            self._names.update(document.names)
            self._names.update(matched(document, self.references or {}).values())

    def document(self) -> Document | None:
        """What is in none of them, as faults of a document of its own; None when nothing is."""
        absent: Iterable[str] = [name for name in self.references or () if name not in self._names]
        faults = [*unstored_fault(self.shapes, self._names), *lacking(list(absent), self._who())]
        if not self._files or not faults:
            return None
        return Document(file=self._files[0], kind="map", faults=tuple(faults))

    def _who(self) -> str:
        if len(self._files) == 1:
            return "this document has no parameter"
        return f"none of {len(self._files)} documents has a parameter"
