"""State that carries the names of its parameters is loaded by name, not by position. N45."""

from __future__ import annotations

from verifier.oracle.probes.differences import entries_differ, entry_of
from verifier.oracle.probes.live import Live, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "names", "OC619"
SHAPES = ((4, 3), (4, 3))


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Load into an optimizer that has the same two named parameters in the other order."""
    return observe(NAME, CODE, [Case("two parameters in the other order", lambda: _mistaken(probed, about))])


def _mistaken(probed: Probed, about: Circumstances) -> list[str]:
    source, target = _named(probed, about, "ab"), _named(probed, about, "ba")
    for seed in (1, 2):
        source.step(seed)
    state = source.optimizer.state_dict()
    try:
        target.optimizer.load_state_dict(state)
    except Exception:  # a refusal is right
        return []
    own = [entry_of(source, parameter) for parameter in source.parameters]
    if not any(own):
        return []
    got = entry_of(target, target.parameters[0])
    if not list(entries_differ(own[:1], [got])) and list(entries_differ(own[1:], [got])):
        return ["the state of 'a' is given to 'b', which comes first here"]
    return []


def _named(probed: Probed, about: Circumstances, order: str) -> Live:
    parameters = parameters_of(SHAPES, about.seed, device=about.device)
    groups = [{"params": list(zip(order, parameters, strict=True))}]
    return Live(probed, parameters, probed.made(groups))
