"""Short ways to gate one constructor."""

from __future__ import annotations

from verifier.audit.check import Settings
from verifier.diagnostics.finding import Finding
from verifier.gate.declared import Declaration
from verifier.gate.gating import Gated, gate
from verifier.gate.loading import Loaded, load
from verifier.symbolic.domain import Sizes


def gated(where: str, over: Sizes, reference: Loaded | None = None) -> Gated:
    return gate(load(where), Declaration(over, reference), Settings())


def only(found: Gated) -> Finding:
    """The one finding."""
    (finding,) = found.subject.findings
    return finding
