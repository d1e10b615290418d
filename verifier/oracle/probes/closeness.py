"""Bits, or one unit in the last place where kernels round an element by its position."""

from __future__ import annotations

import torch

from verifier.oracle.probes.differences import differing


def beyond(one: torch.Tensor, other: torch.Tensor, before: torch.Tensor, *, ulps: int) -> int:
    """How many elements differ by more than ``ulps``.

    The unit is that of the largest number that took part: before, or after in either way. With 0 the bits are
    compared. Equal NaNs and equal infinities do not differ.
    """
    if ulps == 0 or not one.is_floating_point():
        return differing(one, other)
    mine, theirs, start = (tensor.detach().double() for tensor in (one, other, before))
    largest = torch.maximum(torch.maximum(mine.abs(), theirs.abs()), start.abs())
    _, exponent = torch.frexp(largest)
    about = torch.finfo(one.dtype)
    unit = torch.ldexp(torch.full_like(largest, about.eps), exponent - 1)
    unit = unit.clamp_min(about.smallest_normal * about.eps)  # below that numbers do not lie closer
    same = (mine == theirs) | (mine.isnan() & theirs.isnan())
    return int((~same & ~((mine - theirs).abs() <= ulps * unit)).sum())
