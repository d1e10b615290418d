"""Annotations of GitHub Actions: one workflow command a line, as many as a step may have.

The runner takes a line for a command when it begins with two colons, whatever the rest of the output is. So
every line here is a command of ours, and nothing a document contains can begin one.
"""

from __future__ import annotations

from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Report, Subject, is_tool_bug
from verifier.diagnostics.wording import counted, escaped
from verifier.render.brief import brief_lines, place_text
from verifier.render.checkout import Checkout
from verifier.render.summary import outcome_text, summary_text
from verifier.render.text import heading_word

MOST_PER_LEVEL = 10
"""The runner shows no more errors, and no more warnings, of one step."""
MOST_CHARACTERS = 4096
"""The runner cuts longer messages."""
MOST_TITLE_CHARACTERS = 250


def render_github(report: Report, checkout: Checkout | None = None) -> str:
    """The worst errors and warnings, then one notice with the summary and the number of those left out.

    What is undecided is shown as a warning. ``checkout`` says which files can be annotated.
    """
    place_of = checkout or Checkout()
    by_level: dict[str, list[tuple[Subject, Finding]]] = {"error": [], "warning": []}
    for subject, finding in sorted(report.open_findings, key=lambda found: _weight(found[1])):
        by_level[_level(finding)].append((subject, finding))
    lines = [
        _annotation(level, subject, finding, place_of)
        for level, found in by_level.items()
        for subject, finding in found[:MOST_PER_LEVEL]
    ]
    left = {level: len(found) - MOST_PER_LEVEL for level, found in by_level.items()}
    return "".join(f"{line}\n" for line in [*lines, _notice(report, left)])


def _weight(finding: Finding) -> int:
    """What is shown first has the least: bugs of ours, unreadable, refuted, undecided, warnings."""
    if is_tool_bug(finding):
        return 0
    if finding.severity == "warning":
        return 4
    return {"unreadable": 1, "refuted": 2, "undecided": 3}[finding.verdict]


def _level(finding: Finding) -> str:
    return "error" if heading_word(finding) == "error" else "warning"


def _annotation(level: str, subject: Subject, finding: Finding, checkout: Checkout) -> str:
    properties = {} if finding.place is None else _file(finding.place, checkout)
    lines = brief_lines(finding)
    if "file" not in properties:
        lines.insert(0, escaped(subject.name) if finding.place is None else place_text(finding.place))
    properties["title"] = _cut(escaped(f"{finding.code} {finding.name}"), MOST_TITLE_CHARACTERS)
    lines.append(escaped(f"more: shardproof explain {finding.code}"))
    return _command(level, properties, "\n".join(lines))


def _file(place: Place, checkout: Checkout) -> dict[str, str]:
    """File, line and column; nothing for a file that the runner could not find by this line.

    It decodes line breaks in names, but no other control character could be written without acting.
    """
    path = checkout.path(place.file)
    if path is None or escaped(unbroken := path.replace("\r", "").replace("\n", "")) != unbroken:
        return {}
    found = {"file": path, "line": place.line, "col": place.column}
    return {name: str(value) for name, value in found.items() if value is not None}


def _notice(report: Report, left: dict[str, int]) -> str:
    more = [counted(number, f"more {level}") for level, number in left.items() if number > 0]
    last = [f"not shown here: {' and '.join(more)}"] if more else []
    tail = "; ".join([*last, f"exit code {report.exit_code}"])
    said = [summary_text(report)]
    if report.unchecked:
        said = [f"{outcome_text(report)}; not checked:", *report.unchecked]
    tail = ("\n" if report.unchecked else "; ") + tail
    summary = _cut("\n".join(map(escaped, said)), MOST_CHARACTERS - len(tail))
    return _command("notice", {"title": "shardproof"}, summary + tail)


def _command(name: str, properties: dict[str, str], message: str) -> str:
    """``::name key=value,key=value::message``; the runner decodes the percent signs last."""
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {listed}::{_data(_cut(message, MOST_CHARACTERS))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
