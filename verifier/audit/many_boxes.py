"""A parameter of very many boxes, judged in columns."""

from __future__ import annotations

from collections.abc import Sequence

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject
from verifier.diagnostics.report import Subject
from verifier.model.box_map import BoxMap
from verifier.model.expectation import Expectation
from verifier.obligations.faults import Fault


def check_many(boxes: BoxMap, found: Sequence[Fault], settings: Settings, answering: Answering) -> Subject:
    """One parameter of many boxes, as a subject of a report."""
    return check_subject(boxes.to_shard_map(), Expectation(), settings, answering, found=found)
