"""A step writes the elements of its shard and no others. N38."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from verifier.oracle.probes.closeness import beyond
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
    lying = live_of(probed, [torch.nn.Parameter(view(buffer))])
    control = live_of(probed, [own])
    trained = _train(lying, control)
    moved = buffer.cpu().view(torch.int32) != original.cpu().view(torch.int32)
    strays = int((moved & ~owned).sum())
    claims = []
    if strays:
        claims.append(f"{strays} of {int((~owned).sum())} foreign elements are overwritten")
    wrong = beyond(lying.parameters[0].detach(), own.detach(), before, ulps=0 if probed.same_bits else 1)
    if trained and wrong:
        claims.append(f"{wrong} of {own.numel()} own elements are not those of a parameter by itself")
    return claims


def _train(lying: Live, control: Live) -> bool:
    """Step both alike; False where the view is refused, which is right as long as nothing was written."""
    for seed in range(STEPS):
        values = gradients(control.parameters, seed)
        try:
            lying.step_with([value.clone() for value in values])
        except RuntimeError:
            return False
        control.step_with(values)
    return True
