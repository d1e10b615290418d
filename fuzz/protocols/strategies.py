"""Hypothesis strategies for protocols of collectives.

from hypothesis import given
from fuzz.protocols import strategies

@given(strategies.disciplined())
def test_my_checker_calls_them_safe(protocol):
    assert my_checker(protocol).safe
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from fuzz.protocols.drawing import draw_disciplined, draw_protocol, draw_reacting
from fuzz.protocols.mutants import PROTOCOL_MUTANTS, ProtocolMutant
from verifier.contracts.protocols.language import Protocol

__all__ = ["ChangedProtocol", "changed_protocols", "disciplined", "protocols", "reacting"]


@dataclass(frozen=True, slots=True)
class ChangedProtocol:
    """A disciplined protocol with one change; the mutant says what it violates now."""

    protocol: Protocol
    mutant: ProtocolMutant


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    """Protocols of any kind, most of them wrong; with roles and with steps of one name at times."""
    rng = draw(st.randoms(use_true_random=False))
    return draw_protocol(rng, alike=draw(st.booleans()), roles=draw(st.booleans()))


def disciplined() -> st.SearchStrategy[Protocol]:
    """Protocols that violate nothing."""
    return st.randoms(use_true_random=False).map(draw_disciplined)


def reacting() -> st.SearchStrategy[Protocol]:
    """Protocols whose ranks react to a vote by role, choice and own error."""
    return st.randoms(use_true_random=False).map(draw_reacting)


@st.composite
def changed_protocols(draw: st.DrawFn) -> ChangedProtocol:
    """Disciplined protocols with one labelled change."""
    mutant = PROTOCOL_MUTANTS[draw(st.sampled_from([*PROTOCOL_MUTANTS]))]
    protocol = draw(disciplined())
    changed = mutant(draw(st.randoms(use_true_random=False)), protocol)
    assume(changed is not None)
    return ChangedProtocol(changed or protocol, mutant)
