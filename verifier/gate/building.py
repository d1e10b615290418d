"""A function that builds a model, gated by its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verifier.audit.check import Settings, tool_versions
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Report, Subject
from verifier.gate.gating import GateError, running
from verifier.gate.live import gate_model
from verifier.gate.loading import FunctionError, load
from verifier.gate.not_gated import not_gated
from verifier.gate.source_place import source_place
from verifier.oracle.errors import require_torch
from verifier.oracle.live_errors import LiveError


def gate_model_at(
    where: str, world: int, settings: Settings, *, ranks: Sequence[int] | None = None
) -> Report:
    """The model that the function at a place builds, checked as ``gate_model`` does; findings stand there.

    Raises:
        OracleError: torch is not installed, or the device of the replay does not exist.
    """
    require_torch()  # else the import of the model's module would fail first
    try:
        loaded = load(where)
        with running(loaded):
            report = gate_model(loaded.call, world, settings, ranks=ranks)
    except (FunctionError, GateError, LiveError) as error:
        return Report(tool=tool_versions(), subjects=(not_gated(where, error, kind="model"),))
    place = source_place(loaded)
    return replace(report, subjects=tuple([_placed(subject, place) for subject in report.subjects]))


def _placed(subject: Subject, place: Place | None) -> Subject:
    """The subject as written where the model is built."""
    findings = tuple([replace(one, place=place) for one in subject.findings])
    return replace(subject, place=place, findings=findings)
