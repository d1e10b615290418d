"""A step writes the elements of its shard and no others. N38."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from verifier.oracle.probes.closeness import beyond
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import Live, gradients, live_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, nothing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "views", "OC613"
STEPS = 2
ROWS, COLUMNS, WIDE = 4, 3, 6

_VIEWS: Mapping[str, tuple[int, Callable[[torch.Tensor], torch.Tensor]]] = {
    "columns of a wider buffer": (ROWS * WIDE, lambda b: b.view(ROWS, WIDE)[:, :COLUMNS]),
    "every other row": (2 * ROWS * COLUMNS, lambda b: b.view(2 * ROWS, COLUMNS)[::2]),
    "a transposed buffer": (ROWS * COLUMNS, lambda b: b.view(COLUMNS, ROWS).t()),
    "a misaligned interval": (ROWS * COLUMNS + 2, lambda b: b[1:-1].view(ROWS, COLUMNS)),
}
"""How a shard of ROWS x COLUMNS lies in a buffer: elements of the buffer, and the view."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Train views of a buffer, and the same numbers in memory of their own."""
    contract = about.contract
    if contract is not None and contract.update is not None and contract.update.requires_contiguous:
        return nothing(NAME, "the contract asks for contiguous parameters")
    return observe(
        NAME, CODE, [Case(name, lambda name=name: _strays(probed, about, name)) for name in _VIEWS]  # type: ignore[misc]
    )  # fmt: skip


def _strays(probed: Probed, about: Circumstances, name: str) -> list[str]:
    size, view = _VIEWS[name]
    generator = torch.Generator().manual_seed(about.seed)
    buffer = torch.randn(size, generator=generator).to(about.device)
    owned = torch.zeros(size, dtype=torch.bool)
    view(owned).fill_(True)
    original = buffer.clone()
    own = torch.nn.Parameter(view(original).clone(memory_format=torch.contiguous_format))
    before = own.detach().clone()
    control = live_of(probed, [own])
    lying = torch.nn.Parameter(view(buffer))
    refusal = _train(probed, lying, control, buffer)
    moved = buffer.cpu().view(torch.int32) != original.cpu().view(torch.int32)
    strays = int((moved & ~owned).sum())
    claims = []
    if strays:
        claims.append(f"{strays} of {int((~owned).sum())} foreign elements are overwritten")
    if refusal:
        return claims if refusal == UNTOUCHED else [*claims, refusal]
    wrong = beyond(lying.detach(), own.detach(), before, ulps=0 if probed.same_bits else 1)
    if wrong:
        claims.append(f"{wrong} of {own.numel()} own elements are not those of a parameter by itself")
    return claims


UNTOUCHED = "refused before anything is touched"


def _train(probed: Probed, view: torch.nn.Parameter, control: Live, buffer: torch.Tensor) -> str:
    """Train the view as the control; how it is refused, which is right as long as nothing was written."""
    lying = None
    for seed in range(STEPS):
        values = gradients(control.parameters, seed)
        control.step_with(values)
        before = buffer.clone()
        try:
            lying = lying or live_of(probed, [view])
            lying.step_with([value.clone() for value in values])
        except Exception as error:  # whatever it raises is its refusal
            same = torch.equal(before.view(torch.int32), buffer.view(torch.int32))
            return UNTOUCHED if same else f"it raises {words(error)} after it has changed elements"
    return ""
