"""The JSON form of a report (``shardproof.report/1``), from which every other format can be rendered again.

Members are written in a fixed order, lists in report order, free mappings by key except ``contents``, whose
order is that of the summary line. Nothing in it depends on the clock, the machine or absolute paths.
"""

from __future__ import annotations

import json

from verifier.diagnostics.finding import Finding, Json, Label, Picture, Place, Row
from verifier.diagnostics.report import Obligations, Report, Subject, Summary

SCHEMA = "shardproof.report/1"
ELEMENTS = " and "
"""What stands between the elements of one cell of a picture."""


def render_json(report: Report) -> str:
    """The report as JSON text."""
    return json.dumps(report_to_json(report), indent=1, allow_nan=False) + "\n"


def report_to_json(report: Report) -> dict[str, Json]:
    """The report as a JSON value."""
    return {
        "schema": SCHEMA,
        "tool": dict(sorted(report.tool.items())),
        "summary": _summary(report.summary),
        "subjects": [_subject(subject) for subject in report.subjects],
    }


def _summary(summary: Summary) -> Json:
    """Subjects by verdict, obligations by answer, and what was not checked."""
    return {
        "proved": summary.proved,
        "refuted": summary.refuted,
        "undecided": summary.undecided,
        "unreadable": summary.unreadable,
        "obligations": _obligations(summary.obligations),
        "unchecked": list(summary.unchecked),
    }


def _subject(subject: Subject) -> Json:
    return {
        "name": subject.name,
        "kind": subject.kind,
        "place": _place(subject.place),
        "verdict": subject.verdict,
        "obligations": _obligations(subject.obligations),
        "families": {family: _obligations(counts) for family, counts in sorted(subject.families.items())},
        "answered_by": dict(sorted(subject.answered_by.items())),
        "contents": dict(subject.contents),
        "findings": [_finding(finding) for finding in subject.findings],
        "notes": list(subject.notes),
    }


def _obligations(obligations: Obligations) -> Json:
    return {
        "proved": obligations.proved,
        "refuted": obligations.refuted,
        "undecided": obligations.undecided,
    }


def _finding(finding: Finding) -> Json:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "verdict": finding.verdict,
        "message": finding.headline,
        "concise": finding.concise,
        "place": _place(finding.place),
        "about": finding.about,
        "labels": [_label(label) for label in finding.labels],
        "claim": finding.claim,
        "equations": [{"who": e.who, "sum": e.sum, "so": e.so} for e in finding.equations],
        "tally": finding.tally,
        "picture": None if finding.picture is None else _picture(finding.picture),
        "counterpart": None if finding.counterpart is None else _picture(finding.counterpart),
        "notes": list(finding.notes),
        "help": list(finding.helps),
        "consequences": list(finding.consequences),
        "witness": dict(sorted(finding.witness.items())),
        "fingerprint": finding.fingerprint,
        "accepted": finding.accepted,
    }


def _place(place: Place | None) -> Json:
    if place is None:
        return None
    return {"file": place.file, "pointer": place.pointer, "line": place.line, "column": place.column}


def _label(label: Label) -> Json:
    return {
        "place": _place(label.place),
        "snippet": label.snippet,
        "quoted": label.quoted,
        "start": label.start,
        "end": label.end,
        "text": label.text,
        "primary": label.primary,
    }


def _row(row: Row) -> Json:
    """Elements of one cell are one text: a list for each of them would be most of the document."""
    elements: list[Json] = [ELEMENTS.join(found) for found in row.elements]
    return {"head": row.head, "cells": list(row.cells), "elements": elements}


def _picture(picture: Picture) -> Json:
    return {
        "title": picture.title,
        "columns": list(picture.columns),
        "rows": [_row(row) for row in picture.rows],
        "legend": [[mark, meaning] for mark, meaning in picture.legend],
        "cut": list(picture.cut),
        "witness": None if picture.witness is None else list(picture.witness),
    }
