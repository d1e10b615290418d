"""Whether the report on a map can be drawn in every format, twice alike, and read back."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject, tool_versions
from verifier.diagnostics.report import Report
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.render.concise import render_concise
from verifier.render.json_hub import render_json
from verifier.render.json_reading import read_report
from verifier.render.text import render_text


def drawn_wrongly(shard_map: ShardMap, expectation: Expectation) -> Iterator[str]:
    """In words, what is wrong with the drawings of the report on a map."""
    first, second = (_report(shard_map, expectation) for _ in range(2))
    for name, draw in (("text", render_text), ("concise", render_concise), ("json", render_json)):
        text = draw(first)
        if text != draw(second):
            yield f"{name} differs from one run to the next"
        if not all(line.isprintable() for line in text.split("\n")):
            yield f"{name} is not printable"
    stored = render_json(first)
    if render_text(read_report(stored)) != render_text(first):
        yield "the text of the stored report is another"


def _report(shard_map: ShardMap, expectation: Expectation) -> Report:
    settings = Settings()
    answering: Answering = settings.answering()
    subject = check_subject(shard_map, expectation, settings, answering)
    return Report(tool=tool_versions(), subjects=(subject,))
