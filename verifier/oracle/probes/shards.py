"""A step of the shards is the step of the whole: what the induced maps say decides what moves. M11.

The parameter is trained whole for a while, then cut; gradient and state are cut by the maps that follow from
the contract. One step later the shards are put together again and compared with the whole, one step later.
"""

from __future__ import annotations

import copy
import itertools
import random
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from verifier.contracts.document import Contract
from verifier.contracts.induced import induce
from verifier.contracts.induced.maps import parameter_map
from verifier.contracts.shards import MemberShard, ParameterCut
from verifier.model.shard_map import ShardMap
from verifier.oracle.execute import extract, rebuild
from verifier.oracle.probes.closeness import beyond
from verifier.oracle.probes.differences import entry_of
from verifier.oracle.probes.live import Live, Shape, gradients, live, live_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, nothing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "shards", "OC616"
SMALL: Shape = (12, 16)
LARGE: Shape = (160, 128)
"""State may be kept in another form from 4096 elements on, or from 16384: of the shard, which is a fault, for
the whole is then trained otherwise."""
SEPARABLE = ("elementwise", "block")
DTYPES = ("float32", "float64", "bfloat16")


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Cut by rows, columns and at random, into uneven and empty shards too."""
    contract = about.contract
    if contract is None or contract.update is None:
        return nothing(NAME, "no contract says what the step of an element reads")
    if contract.update.reads not in SEPARABLE:
        return nothing(
            NAME, f"the step of an element reads the {contract.update.reads}: no shard can do it alone"
        )
    if probed.sparse:
        return nothing(NAME, "its gradients are sparse: rows are trained as they come")
    cases, notes = [], []
    for cut in cuts(about.seed):
        induction = induce(contract, cut)
        if induction.verdict != "valid":
            notes.append(f"{cut.fqn}: not claimed ({induction.reason or ', '.join(induction.rules)})")
            continue
        maps = {name: found.shard_map for name, found in induction.fields.items()}
        cases += [
            Case(
                f"{cut.fqn} in {dtype}",
                lambda c=cut, m=maps, d=dtype: differences(probed, about, c, m, getattr(torch, d)),  # type: ignore[misc]
            )
            for dtype in DTYPES
            if dtype in (contract.precisions or DTYPES[:1])
        ]
    return observe(NAME, CODE, cases, notes=notes)


def cuts(seed: int) -> Iterator[ParameterCut]:
    """Rows and columns evenly, unevenly and with an empty shard; intervals at random places."""
    rows, columns = SMALL
    yield _by_dim("rows 4+4+4", SMALL, 0, (4, 4, 4))
    yield _by_dim("rows 7+0+5", SMALL, 0, (7, 0, 5))
    yield _by_dim("columns 8+8", SMALL, 1, (8, 8))
    yield _by_dim("columns 5+5+6", SMALL, 1, (5, 5, 6))
    draw = random.Random(seed)  # noqa: S311 - which cuts are tried
    inner = sorted(draw.sample(range(1, rows * columns), 2))
    yield _by_interval(f"flat at {inner[0]} and {inner[1]}", SMALL, (0, *inner, rows * columns))
    yield _by_interval("flat at 7", SMALL, (0, 7, rows * columns))
    yield _by_dim("rows 128+31+1", LARGE, 0, (128, 31, 1))
    yield _by_interval("flat at 4095 of 20480", LARGE, (0, 4095, 160 * 128))


def _by_dim(name: str, shape: Shape, dim: int, lengths: tuple[int, ...]) -> ParameterCut:
    members = tuple(f"r{k}" for k in range(len(lengths)))
    shards, at = [], 0
    for member, length in zip(members, lengths, strict=True):
        offsets, extents = [0, 0], list(shape)
        offsets[dim], extents[dim] = at, length
        shards.append(MemberShard(member=member, offsets=tuple(offsets), lengths=tuple(extents), is_box=True))
        at += length
    return ParameterCut(
        fqn=name, shape=shape, layout="dim_shard", group="g", members=members, shards=tuple(shards), dim=dim
    )


def _by_interval(name: str, shape: Shape, edges: tuple[int, ...]) -> ParameterCut:
    members = tuple(f"r{k}" for k in range(len(edges) - 1))
    shards = tuple(
        MemberShard(member=member, offsets=(begin,), lengths=(end - begin,))
        for member, (begin, end) in zip(members, itertools.pairwise(edges), strict=True)
    )
    return ParameterCut(fqn=name, shape=shape, layout="flat_shard", group="g", members=members, shards=shards)


def contract_maps(contract: Contract, cut: ParameterCut) -> dict[str, ShardMap | None]:
    """The induced maps by field."""
    return {name: found.shard_map for name, found in induce(contract, cut).fields.items()}


def differences(
    probed: Probed,
    about: Circumstances,
    cut: ParameterCut,
    maps: Mapping[str, ShardMap | None],
    dtype: torch.dtype,
) -> list[str]:
    """How the step of the shards differs, in the parameter and in every field with a map."""
    warnings.simplefilter("ignore")
    whole = live(probed, about.seed, shapes=(cut.shape,), dtype=dtype, device=about.device)
    (parameter,) = whole.parameters
    where = parameter_map(cut, cut.fqn)
    (gradient,) = gradients(whole.parameters, 77)
    start = {"the parameter": parameter.detach().clone()}
    start |= {
        name: value.detach().clone()
        for name, value in entry_of(whole, parameter).items()
        if isinstance(value, torch.Tensor)
    }
    shards = {rank: _shard(whole, where, maps, rank) for rank in where.ranks}
    for rank, shard in shards.items():
        shard.step_with([extract(gradient, where, rank, device=about.device)])
    whole.step_with([gradient])
    return list(_compared(whole, shards, where, maps, start, ulps=_ulps(probed, dtype)))


def _ulps(probed: Probed, dtype: torch.dtype) -> int:
    """Vectorised kernels round in wider numbers than scalar ones for the last elements, in bfloat16 too."""
    return 0 if probed.same_bits and dtype != torch.bfloat16 else 1


def _shard(whole: Live, where: ShardMap, maps: Mapping[str, ShardMap | None], rank: int) -> Live:
    """What one rank holds: its part of the parameter and of every field."""
    (parameter,) = whole.parameters
    device = str(parameter.device)
    own = torch.nn.Parameter(extract(parameter.detach(), where, rank, device=device))
    shard = live_of(whole.probed, [own])
    state: dict[Any, Any] = {}
    for name, value in entry_of(whole, parameter).items():
        found = maps.get(name)
        if not isinstance(value, torch.Tensor) or found is None:
            state[name] = value
        elif value.dim() == 0:
            state[name] = value.clone()
        else:
            state[name] = extract(value, found, rank, device=device)
    if state:
        shard.optimizer.state[shard.key_of(own)] = state
    _take_options(shard, whole)
    return shard


def _take_options(shard: Live, whole: Live) -> None:
    """What groups hold belongs to the state too: some count their steps there."""
    for group, theirs in zip(shard.optimizer.param_groups, whole.optimizer.param_groups, strict=True):
        group.update({key: copy.deepcopy(value) for key, value in theirs.items() if key != "params"})


def _compared(
    whole: Live,
    shards: Mapping[int, Live],
    where: ShardMap,
    maps: Mapping[str, ShardMap | None],
    start: Mapping[str, torch.Tensor],
    *,
    ulps: int,
) -> Iterator[str]:
    (parameter,) = whole.parameters
    parts = {rank: shard.parameters[0].detach() for rank, shard in shards.items()}
    yield from _told("the parameter", parameter.detach(), parts, where, start, ulps)
    for name, value in entry_of(whole, parameter).items():
        found = maps.get(name)
        if isinstance(value, torch.Tensor) and found is not None and name in start:
            held = {rank: entry_of(shard, shard.parameters[0]).get(name) for rank, shard in shards.items()}
            tensors = {rank: one for rank, one in held.items() if isinstance(one, torch.Tensor)}
            yield from _told(name, value, tensors, found, start, ulps)


def _told(
    name: str,
    value: torch.Tensor,
    parts: Mapping[int, torch.Tensor],
    found: ShardMap,
    start: Mapping[str, torch.Tensor],
    ulps: int,
) -> Iterator[str]:
    put_together = rebuild(parts, found, device=value.device)
    if put_together.drift is not None:
        yield f"{name} is not the same on all ranks"
        return
    full = put_together.full.view(value.shape)
    if beyond(full, value, start[name].view(value.shape), ulps=ulps):
        # How many differ, and how far, is not said: kernels that go wrong here do not go wrong twice alike.
        yield f"{name} differs{'' if ulps == 0 else ' by more than one unit in the last place'}"
