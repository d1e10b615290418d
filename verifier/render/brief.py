"""A finding in a few lines without a picture, for services that show messages in a proportional font."""

from __future__ import annotations

from verifier.diagnostics.finding import Equation, Finding, Place
from verifier.diagnostics.wording import escaped


def brief_lines(finding: Finding) -> list[str]:
    """The fault, what it is about, the numbers, notes and helps, one line each, escaped."""
    undecided = "undecided, which is not a pass: " if finding.verdict == "undecided" else ""
    lines = [
        f"{undecided}{finding.concise}",
        finding.about,
        finding.claim,
        *map(_equation, finding.equations),
        finding.tally,
        *[f"note: {note}" for note in finding.notes],
        *[f"help: {text}" for text in finding.helps],
    ]
    return [escaped(line) for line in lines if line]


def place_text(place: Place) -> str:
    """``maps/qkv.json:8:51``, with what is known of line and column, escaped."""
    numbers = [str(number) for number in (place.line, place.column) if number is not None]
    return escaped(":".join([place.file, *numbers]))


def _equation(equation: Equation) -> str:
    return f"{equation.who}: {equation.sum}" + (f", {equation.so}" if equation.so else "")
