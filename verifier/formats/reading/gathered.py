"""A document while it is being read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from verifier.formats.reading.document import BoxSubject, Document, Refusal, Subject
from verifier.formats.reading.refusal import FormatError, shown, some
from verifier.model.origin import Origin
from verifier.obligations.faults import Count, Fault


@dataclass(slots=True)
class Gathered:
    """What was found so far; the attributes are those of Document."""

    subjects: list[Subject] = field(default_factory=list)
    boxes: list[BoxSubject] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    remarks: list[Fault] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    unchecked: list[str] = field(default_factory=list)
    _names: dict[str, list[str]] = field(default_factory=dict)

    def holds(self, statements: str, number: int = 1) -> None:
        """So many statements of this kind hold."""
        if number:
            self.checks[statements] += number

    def note(self, about: str, name: str) -> None:
        """``about``, a noun phrase on several parameters, was not looked at for this one."""
        self._names.setdefault(about, []).append(name)

    def refuse(self, name: str, error: FormatError | OSError, origin: Origin) -> None:
        """A part cannot be read, for whatever reason."""
        if isinstance(error, OSError):
            message = f"cannot be read: {error.strerror}"
            error = FormatError("SM001", message, origin, help="check the path and its permissions")
        self.refusals.append(Refusal.of(name, error))

    def about_names(
        self, code: str, names: Sequence[str], *, what: str, found: str, stated: str, file: str
    ) -> None:
        """One fault that all these names have; none when there are none."""
        if names:
            self.faults.append(
                set_fault(
                    code, f"{what} {shown(names[0])}", found, stated=stated, file=file, number=len(names)
                )
            )

    def document(self, file: str, kind: str) -> Document:
        """The finished document."""
        return Document(
            file=file,
            kind=kind,
            subjects=tuple(self.subjects),
            boxes=tuple(self.boxes),
            refusals=tuple(self.refusals),
            faults=tuple(self.faults),
            remarks=tuple(self.remarks),
            checks=dict(self.checks),
            unchecked=(*self.unchecked, *self._notes()),
        )

    def _notes(self) -> Iterator[str]:
        for about, names in self._names.items():
            yield f"{about} ({len(names)}): {some(names)}"


def set_fault(
    code: str,
    what: str,
    found: str,
    *,
    stated: str | None = None,
    file: str | None = None,
    reason: str | None = None,
    number: int = 1,
    block: int | None = None,
    undecided: bool = False,
) -> Fault:
    """A fault of the files, in the words that ``narrate.sets`` asks for.

    ``number`` is how many places have it; ``block`` the position of the block at fault in its map.
    """
    words = {"what": what, "found": found, "stated": stated, "file": file, "reason": reason}
    return Fault(
        code=code,
        side="map",
        rank=block,
        pieces=() if block is None else ((block, 0),),
        count=Count(number, exact=True) if number > 1 else None,
        values={key: text for key, text in words.items() if text is not None},
        undecided=undecided,
    )


def missing_file(first: str, number: int, *, descriptor: str, stated: int, rank: int | None = None) -> Fault:
    """CK101 for the first of so many files that a number of things asks for; ``descriptor`` says of what."""
    return Fault(
        code="CK101",
        side="map",
        rank=rank,
        count=Count(number, exact=True),
        values={"file": first, "descriptor": descriptor, "stated": stated},
    )
