"""A shard without elements is no reason to raise, and its neighbours are trained as without it. N40."""

from __future__ import annotations

from verifier.oracle.probes.differences import differing
from verifier.oracle.probes.live import gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, observe, words
from verifier.oracle.probes.probed import Probed

NAME, CODE = "empty-shard", "OC615"
SHAPE, EMPTY = (4, 3), ((0, 3), (3, 0), (0,))
STEPS = 2


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Train an empty parameter before and behind another."""
    update = None if about.contract is None else about.contract.update
    declared = update is not None and update.empty_shard == "error"
    shapes = [shape for shape in EMPTY if probed.dims is None or len(shape) in probed.dims]
    cases = [
        Case(
            f"{list(shape)} {'behind' if last else 'before'} another",
            lambda shape=shape, last=last: _broken(probed, about, shape, last, declared),  # type: ignore[misc]
        )
        for shape in shapes
        for last in (True, False)
    ]
    return observe(NAME, CODE, cases)


def _broken(
    probed: Probed, about: Circumstances, shape: tuple[int, ...], last: bool, declared: bool
) -> list[str]:
    shapes = (SHAPE, shape) if last else (shape, SHAPE)
    position = 0 if last else 1
    alone = live_of(probed, parameters_of((SHAPE,), about.seed, device=about.device))
    parameters = parameters_of(shapes, about.seed, device=about.device)
    parameters[position].data.copy_(alone.parameters[0].data)
    try:
        found = live_of(probed, parameters)
        for seed in range(STEPS):
            values = gradients(alone.parameters, seed)
            found.step_with(
                [*values, gradients(parameters, 0)[1]] if last else [gradients(parameters, 0)[0], *values]
            )
            alone.step_with(values)
    except Exception as error:  # what the probe is about
        return [] if declared else [f"it raises {words(error)}"]
    changed = differing(found.parameters[position], alone.parameters[0])
    return [f"{changed} of 12 elements of its neighbour are trained otherwise"] if changed else []
