"""The three verdicts on a map. Never a bool, never None; Undecided is not a pass."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.certificates.encode import Certificate
from verifier.certificates.encode_boxes import BoxCertificate
from verifier.obligations.faults import Fault


@dataclass(frozen=True, slots=True)
class Proved:
    """Every demand holds; the certificate can be checked without us."""

    certificate: Certificate


@dataclass(frozen=True, slots=True)
class ProvedTiled:
    """Boxes in columns are a parameter, each element once; the certificate can be checked without us."""

    certificate: BoxCertificate


@dataclass(frozen=True, slots=True)
class Refuted:
    """Some demand fails; ``witness`` is the first counterexample, ``faults`` are all of them."""

    witness: Fault
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    """No demand was refuted, but some could not be decided; ``reason`` says why."""

    reason: str
    faults: tuple[Fault, ...]


Verdict = Proved | Refuted | Undecided
