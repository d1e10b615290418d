"""A group may hold parameters that have a state and parameters that have none yet. N42."""

from __future__ import annotations

from verifier.oracle.probes.differences import differing
from verifier.oracle.probes.live import gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe, words
from verifier.oracle.probes.probed import Probed

NAME, CODE = "late-gradient", "OC618"
SHAPES = ((4, 3), (4, 3))


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Give one of two parameters its first gradient a step late."""
    cases = [
        Case(f"the {word} parameter a step late", lambda late=late: _broken(probed, about, late))  # type: ignore[misc]
        for word, late in (("second", 1), ("first", 0))
    ]
    return observe(NAME, CODE, cases)


def _broken(probed: Probed, about: Circumstances, late: int) -> list[str]:
    found = live_of(probed, parameters_of(SHAPES, about.seed, device=about.device))
    first = gradients(found.parameters, 1)
    first_step = [None if position == late else value for position, value in enumerate(first)]
    before = [parameter.detach().clone() for parameter in found.parameters]
    try:
        found.step_with(first_step)
        found.step(2)
    except Exception as error:  # what the probe is about
        return [f"it raises {words(error)}"]
    return [
        f"parameter {position} is not trained"
        for position, (parameter, start) in enumerate(zip(found.parameters, before, strict=True))
        if not differing(parameter, start)
    ]
