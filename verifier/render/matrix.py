"""What was asked of each subject, by family, with equal subjects folded into one row.

A checkpoint has the same layer a hundred times: rows whose names differ in numbers only, and whose cells are
equal, become one row, with the numbers as ranges.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from verifier.diagnostics.codes import find_code
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Subject
from verifier.diagnostics.wording import escaped

FAMILIES: Mapping[str, str] = {
    "piece": "bounds",
    "shard side": "shard side",
    "parameter side": "parameter side",
    "replicas": "replicas",
    "expectations": "expectations",
    "checkpoint set": "checkpoint set",
}
"""Families of codes that always have a column, with its heading; the others have one where they occur."""

_SAME_COLUMN = {"checkpoint remarks": "checkpoint set", "constructor refusals": "constructors"}
_OF_KIND = {"checkpoint": "checkpoint set", "constructor": "constructors"}
"""The family of subjects of which only one thing is asked."""
_OF_OBLIGATION = {
    "shard": "shard side",
    "parameter": "parameter side",
    "holders": "replicas",
    "reference": "expectations",
    "unit": "expectations",
    "storage units": "expectations",
    "scale sum": "expectations",
}
"""The family of an undecided obligation, by the first word of its name."""

State = Literal["unasked", "proved", "accepted", "warning", "undecided", "refuted", "unreadable"]
_BY_WEIGHT: Sequence[State] = (
    "unasked",
    "proved",
    "accepted",
    "warning",
    "undecided",
    "refuted",
    "unreadable",
)

_NUMBER = re.compile(r"(?<![0-9])(0|[1-9][0-9]{0,8})(?![0-9])")
_MOST_RUNS = 4
_MOST_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of one family of one row.

    Attributes:
        state: the worst of it.
        codes: of the findings, least first; of their consequences, too.
        finding: the number of the first finding in report order, None without one.
    """

    state: State
    codes: tuple[str, ...] = ()
    finding: int | None = field(default=None, compare=False)


UNASKED = Cell("unasked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Subjects with equal cells, whose names differ in numbers only.

    Attributes:
        file: where they were read; empty for what was built in memory.
        name: of all of them, e.g. ``layers.{0-125}.mlp.weight``.
        kind: of all of them.
        count: how many they are.
        slots: how many names the ranges could form, ``count`` where all of them are there.
        verdict: of all of them.
        cells: by family.
    """

    file: str
    name: str
    kind: str
    count: int
    slots: int
    verdict: str
    cells: Mapping[str, Cell]


def rows(subjects: Iterable[Subject]) -> list[Row]:
    """The rows in order of their first subject. Findings are numbered through, from 0."""
    groups: dict[tuple[object, ...], list[tuple[str, ...]]] = {}
    first: dict[tuple[object, ...], tuple[Subject, Mapping[str, Cell]]] = {}
    number = 0
    for subject in subjects:
        cells = _cells(subject, number)
        number += len(subject.findings)
        parts = _NUMBER.split(subject.name)
        file = "" if subject.place is None else subject.place.file
        key = (
            file,
            tuple(parts[::2]),
            subject.kind,
            subject.verdict,
            tuple(sorted(cells.items(), key=_name)),
        )
        groups.setdefault(key, []).append(tuple(parts[1::2]))
        first.setdefault(key, (subject, cells))
    return [_row(*first[key], numbers) for key, numbers in groups.items()]


def columns(table: Iterable[Row]) -> dict[str, str]:
    """The families to show with their headings: those of every report, then those that occur."""
    found = dict.fromkeys(family for row in table for family in row.cells)
    return {**FAMILIES, **{family: family for family in found if family not in FAMILIES}}


def family_of(finding: Finding) -> str:
    """The family that a finding belongs to; of what is undecided, that of its obligation."""
    code = find_code(finding.code)
    family = "other" if code is None else str(code.family)
    values = finding.witness.get("values")
    obligation = values.get("obligation") if isinstance(values, dict) else None
    if family == "undecided" and isinstance(obligation, str):
        return _OF_OBLIGATION.get(obligation.split("/")[0], family)
    return _SAME_COLUMN.get(family, family)


def _name(item: tuple[str, Cell]) -> str:
    return item[0]


def _cells(subject: Subject, number: int) -> dict[str, Cell]:
    """The families of one subject that something is known of; its first finding has this number."""
    states: dict[str, list[State]] = {}
    codes: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    for family, counts in subject.families.items():
        states[family] = _answers(counts.proved, counts.refuted, counts.undecided)
    only = _OF_KIND.get(subject.kind)
    if only is not None and not subject.families:
        counts = subject.obligations
        states[only] = _answers(counts.proved, counts.refuted, counts.undecided)
    for position, finding in enumerate(subject.findings):
        for code, family in _said(finding):
            states.setdefault(family, []).append(_state(finding))
            codes.setdefault(family, []).append(code)
            numbers.setdefault(family, number + position)
    return {
        family: Cell(
            "accepted" if _all_accepted(subject, family) else max(found, key=_BY_WEIGHT.index),
            tuple(sorted(set(codes.get(family, ())))),
            numbers.get(family),
        )
        for family, found in states.items()
        if found
    }


def _said(finding: Finding) -> list[tuple[str, str]]:
    """(code, family) of a finding and of what follows from it."""
    found = [(finding.code, family_of(finding))]
    for word in finding.consequences:
        code = find_code(word)
        if code is not None:
            found.append((code.code, _SAME_COLUMN.get(code.family, code.family)))
    return found


def _state(finding: Finding) -> State:
    if finding.accepted:
        return "accepted"
    return "warning" if finding.severity == "warning" else finding.verdict


def _all_accepted(subject: Subject, family: str) -> bool:
    """Whether everything found in a family is accepted, so that its refuted obligations are, too."""
    found = [one for one in subject.findings if family in {name for _, name in _said(one)}]
    return bool(found) and all(one.accepted for one in found)


def _answers(proved: int, refuted: int, undecided: int) -> list[State]:
    answers: tuple[tuple[State, int], ...] = (
        ("proved", proved),
        ("refuted", refuted),
        ("undecided", undecided),
    )
    return [state for state, count in answers if count]


def _row(subject: Subject, cells: Mapping[str, Cell], numbers: Sequence[tuple[str, ...]]) -> Row:
    texts = _NUMBER.split(subject.name)[::2]
    seen = [sorted({int(found[k]) for found in numbers}) for k in range(len(texts) - 1)]
    ranges = [str(of[0]) if len(of) == 1 else f"{{{_runs(of)}}}" for of in seen]
    name = "".join(part for pair in zip(texts, [*ranges, ""], strict=True) for part in pair)
    return Row(
        file="" if subject.place is None else subject.place.file,
        name=cut(name, _MOST_CHARACTERS),
        kind=subject.kind,
        count=len(numbers),
        slots=math.prod(map(len, seen)),
        verdict="accepted" if subject.is_accepted else subject.verdict,
        cells=cells,
    )


def _runs(numbers: Sequence[int]) -> str:
    """``0-3, 5, 7-9``; a long list is cut short."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    if len(shown) > _MOST_RUNS:
        shown = [*shown[: _MOST_RUNS - 1], "...", shown[-1]]
    return ", ".join(shown)


def cut(text: str, most: int) -> str:
    """``text``, escaped, its middle left out where it is longer."""
    text = escaped(text[: 4 * most] + text[-4 * most :] if len(text) > 8 * most else text)
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"
