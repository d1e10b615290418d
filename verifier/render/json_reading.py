"""From the JSON form back to a report: ``render RUN.json``. Strict: a report may come from anywhere."""

from __future__ import annotations

import json
from math import isfinite
from typing import get_args

from verifier.diagnostics.codes import Severity, find_code
from verifier.diagnostics.finding import Equation, Finding, FindingVerdict, Json, Label, Picture, Place, Row
from verifier.diagnostics.report import Obligations, Report, Subject, SubjectVerdict, Summary, is_tool_bug
from verifier.render.json_fields import Field, ReportFormatError
from verifier.render.json_hub import ELEMENTS, SCHEMA

_BY_WEIGHT = ("proved", "undecided", "refuted", "unreadable")
"""Verdicts from the best to the worst: a subject has at least the worst one of its findings."""

MOST_LINES = 10**9
"""Line and column numbers beyond this belong to no document."""


def read_report(text: str) -> Report:
    """The report that ``render_json`` wrote.

    Raises:
        ReportFormatError: the text is not JSON, not of this schema, or contradicts itself.
    """
    try:
        document = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except ReportFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise ReportFormatError("", f"is not JSON: {error}") from error
    return _report(Field(document))


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ReportFormatError("", "has an object with a repeated member")
    return found


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ReportFormatError("", f"has the number {text[:20]}, which is too large")
    return number


def _constant(word: str) -> Json:
    raise ReportFormatError("", f"has the number {word}, which JSON does not know")


def _report(field: Field) -> Report:
    schema, tool, summary, subjects = field.members("schema", "tool", "summary", "subjects")
    if schema.text() != SCHEMA:
        raise schema.refused(f"expected {SCHEMA!r}, found {schema.text()!r}")
    totals = _summary(summary)
    report = Report(
        tool={name: value.text() for name, value in tool.items()},
        subjects=subjects.elements(_subject),
        unchecked=totals.unchecked,
    )
    if totals != report.summary:
        raise summary.refused("does not add up to the subjects")
    return report


def _summary(field: Field) -> Summary:
    proved, refuted, undecided, unreadable, obligations, unchecked = field.members(
        "proved", "refuted", "undecided", "unreadable", "obligations", "unchecked"
    )
    return Summary(
        proved.integer(),
        refuted.integer(),
        undecided.integer(),
        unreadable.integer(),
        _obligations(obligations),
        unchecked.elements(Field.text),
    )


_SUBJECT = (
    "name",
    "kind",
    "place",
    "verdict",
    "obligations",
    "families",
    "answered_by",
    "contents",
    "findings",
    "notes",
)


def _subject(field: Field) -> Subject:
    at = dict(zip(_SUBJECT, field.members(*_SUBJECT, newer=("families", "notes")), strict=True))
    subject = Subject(
        name=at["name"].text(),
        kind=at["kind"].text(),
        place=at["place"].optional(_place),
        verdict=at["verdict"].one_of(get_args(SubjectVerdict)),
        obligations=_obligations(at["obligations"]),
        families=at["families"].optional(_families) or {},
        answered_by={engine: number.integer() for engine, number in at["answered_by"].items()},
        contents={noun: number.integer() for noun, number in at["contents"].items()},
        findings=at["findings"].elements(_finding),
        notes=at["notes"].optional(_texts) or (),
    )
    if subject.families and sum(subject.families.values(), Obligations()) != subject.obligations:
        raise at["families"].refused("do not add up to the obligations")
    _check_verdict(at["verdict"], subject)
    return subject


def _families(field: Field) -> dict[str, Obligations]:
    return {family: _obligations(counts) for family, counts in field.items()}


def _texts(field: Field) -> tuple[str, ...]:
    return field.elements(Field.text)


def _check_verdict(field: Field, subject: Subject) -> None:
    """Refuse a verdict better than what the same subject states below it."""
    if subject.verdict == "unchecked" and (subject.findings or subject.obligations.total):
        raise field.refused("contradicts the obligations or findings: nothing was checked")
    said = {f.verdict for f in subject.findings if f.severity == "error" and not is_tool_bug(f)}
    counts = subject.obligations
    stated = {*said, *["undecided"] * bool(counts.undecided), *["refuted"] * bool(counts.refuted)}
    worst = max(map(_BY_WEIGHT.index, stated), default=0)
    if subject.verdict in _BY_WEIGHT and _BY_WEIGHT.index(subject.verdict) < worst:
        raise field.refused(f"contradicts what was found: {subject.verdict}, but {_BY_WEIGHT[worst]}")


def _obligations(field: Field) -> Obligations:
    proved, refuted, undecided = field.members("proved", "refuted", "undecided")
    return Obligations(proved.integer(), refuted.integer(), undecided.integer())


_FINDING = (
    "code",
    "name",
    "severity",
    "verdict",
    "message",
    "concise",
    "place",
    "about",
    "labels",
    "claim",
    "equations",
    "tally",
    "picture",
    "counterpart",
    "notes",
    "help",
    "consequences",
    "witness",
    "fingerprint",
    "accepted",
)


def _finding(field: Field) -> Finding:
    at = dict(zip(_FINDING, field.members(*_FINDING, newer=("counterpart", "accepted")), strict=True))
    finding = Finding(
        code=at["code"].text(),
        name=at["name"].text(),
        severity=at["severity"].one_of(get_args(Severity)),
        verdict=at["verdict"].one_of(get_args(FindingVerdict)),
        headline=at["message"].text(),
        concise=at["concise"].text(),
        place=at["place"].optional(_place),
        about=at["about"].text(),
        labels=at["labels"].elements(_label),
        claim=at["claim"].text(),
        equations=at["equations"].elements(_equation),
        tally=at["tally"].text(),
        picture=at["picture"].optional(_picture),
        counterpart=at["counterpart"].optional(_picture),
        notes=at["notes"].elements(Field.text),
        helps=at["help"].elements(Field.text),
        consequences=at["consequences"].elements(Field.text),
        witness={name: value.anything() for name, value in at["witness"].items()},
        fingerprint=at["fingerprint"].text(),
        accepted=at["accepted"].optional(Field.text) or "",
    )
    code = find_code(finding.code)
    if code is not None and code.severity == "error" and finding.severity != "error":
        raise at["severity"].refused(f"contradicts the code: {code.code} is an error")
    return finding


def _place(field: Field) -> Place:
    file, pointer, line, column = field.members("file", "pointer", "line", "column")
    return Place(file.text(), pointer.text(), line.optional(_ordinal), column.optional(_ordinal))


def _ordinal(field: Field) -> int:
    return field.integer(MOST_LINES)


def _label(field: Field) -> Label:
    place, snippet, quoted, start, end, text, primary = field.members(
        "place", "snippet", "quoted", "start", "end", "text", "primary"
    )
    label = Label(
        place=place.optional(_place),
        snippet=snippet.text(),
        quoted=quoted.boolean(),
        start=start.integer(),
        end=end.integer(),
        text=text.text(),
        primary=primary.boolean(),
    )
    if not label.start <= label.end <= len(label.snippet):
        raise field.refused("marks characters outside its snippet")
    return label


def _equation(field: Field) -> Equation:
    who, total, so = field.members("who", "sum", "so")
    return Equation(who.text(), total.text(), so.text())


def _picture(field: Field) -> Picture:
    title, columns, rows, legend, cut, witness = field.members(
        "title", "columns", "rows", "legend", "cut", "witness"
    )
    sides = cut.elements(Field.boolean)
    if len(sides) != 4:
        raise cut.refused(f"expected four sides, found {len(sides)}")
    picture = Picture(
        title=title.text(),
        columns=columns.elements(Field.text),
        rows=rows.elements(_row),
        legend=legend.elements(_entry),
        cut=(sides[0], sides[1], sides[2], sides[3]),
        witness=witness.optional(_position),
    )
    if not picture.rows or not picture.columns:
        raise field.refused("is empty")
    if any(len(row.cells) != len(picture.columns) for row in picture.rows):
        raise rows.refused("has a row with another number of cells than columns")
    if any(len(row.elements) not in (0, len(row.cells)) for row in picture.rows):
        raise rows.refused("has a row with another number of elements than cells")
    return picture


def _row(field: Field) -> Row:
    head, cells, elements = field.members("head", "cells", "elements", newer=("elements",))
    return Row(head.text(), cells.elements(Field.text), elements.optional(_elements) or ())


def _elements(field: Field) -> tuple[tuple[str, ...], ...]:
    return tuple([tuple(text.split(ELEMENTS)) if text else () for text in field.elements(Field.text)])


def _entry(field: Field) -> tuple[str, str]:
    mark, meaning = field.pair()
    return mark.text(), meaning.text()


def _position(field: Field) -> tuple[int, int]:
    row, column = field.pair()
    return row.integer(), column.integer()
