"""Proofs for all sizes put to the checker that shares no code with the prover."""

from __future__ import annotations

from verifier.certificates.check_sizes import Rejected, TooLarge, check_text
from verifier.diagnostics.finding import Finding
from verifier.gate.findings import constructor_finding
from verifier.gate.literals import call_text
from verifier.gate.loading import Loaded
from verifier.symbolic.certificate import Certificate
from verifier.symbolic.discharge import discharge
from verifier.symbolic.encode_sizes import certificate_text


def certificate_texts(loaded: Loaded, certificate: Certificate) -> tuple[str, ...]:
    """One certificate for each choice of which a map is made, named by the place and the choice."""
    names = [", ".join(filter(None, [loaded.where, call_text(one.choice)])) for one in certificate.choices]
    return tuple([certificate_text(name, one) for name, one in zip(names, certificate.choices, strict=True)])


def unconfirmed(loaded: Loaded, certificates: tuple[str, ...]) -> tuple[Finding, ...]:
    """A finding for the first certificate that is not accepted; none when all are.

    A rejected one is a bug of ours (TB102). One that is too large, or that leaves a sign open which no solver
    confirms, is no proof to us (SM902). What rests on our word is left to ``certify`` to say.
    """
    for text in certificates:
        try:
            _, scripts, _ = check_text(text)
        except TooLarge as large:
            return (_not_confirmed(loaded, f"the independent checker gave up: {large}"),)
        except Rejected as rejected:
            return (_rejected(loaded, str(rejected)),)
        left = discharge(scripts).left
        if left:
            return (_not_confirmed(loaded, f"no solver confirms a sign that is needed for {left[0]}"),)
    return ()


def _rejected(loaded: Loaded, reason: str) -> Finding:
    return constructor_finding(
        loaded,
        "TB102",
        "undecided",
        "was proved, but the independent checker rejects the certificate",
        "do not trust this run",
        notes=(f"the checker says: {reason}",),
        helps=("please report it with the constructor and its domain: this is a fault of shardproof",),
        witness={"reason": reason},
    )


def _not_confirmed(loaded: Loaded, reason: str) -> Finding:
    return constructor_finding(
        loaded,
        "SM902",
        "undecided",
        "was proved, but the proof is not confirmed (this is not a pass)",
        "nothing wrong is known of it",
        notes=(reason,),
        helps=("declare a smaller domain: fewer ranks, or fewer sizes",),
        witness={"reason": reason},
    )
