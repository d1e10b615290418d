"""Which process groups can do what on which device: D1 to D9, as a table with its source.

Source: ``docs/source/distributed.md`` of PyTorch, and ``Backend.backend_capability`` of torch 2.13. What
depends on how a library was built is unknown, and unknown is not yes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from verifier.contracts.broken import Broken

Able = Literal["yes", "no", "unknown"]

COMMON = ("broadcast", "all_reduce", "reduce", "all_gather", "gather", "scatter", "all_to_all")
POINT = ("send", "recv", "barrier")
COLLECTIVES = (*COMMON, "reduce_scatter", *POINT)
"""Every collective of the table."""

_TABLE: dict[tuple[str, str], dict[str, Able]] = {
    ("gloo", "cpu"): dict.fromkeys(COLLECTIVES, "yes"),
    ("gloo", "cuda"): {**dict.fromkeys((*COMMON, "reduce_scatter"), "yes"), **dict.fromkeys(POINT, "no")},
    ("mpi", "cpu"): {**dict.fromkeys(COLLECTIVES, "yes"), "reduce_scatter": "no"},
    ("mpi", "cuda"): {**dict.fromkeys(COLLECTIVES, "unknown"), "reduce_scatter": "no"},
    ("nccl", "cpu"): dict.fromkeys(COLLECTIVES, "no"),
    ("nccl", "cuda"): dict.fromkeys(COLLECTIVES, "yes"),
    ("xccl", "cpu"): dict.fromkeys(COLLECTIVES, "no"),
    ("xccl", "xpu"): dict.fromkeys(COLLECTIVES, "yes"),
}

BACKENDS = ("gloo", "mpi", "nccl", "xccl", "ucc", "fake")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUse:
    """What somebody wants of a process group.

    Attributes:
        backend: as ``get_backend_config`` reports it: "nccl", or device to backend, "cpu:gloo,cuda:nccl".
        device: of the tensors, "cpu" or "cuda:0".
        collectives: the ones that are used.
        members: how many ranks the scope has.
        has_handle: whether a process group is given.
        timeout_seconds: of this group; None where nobody set one.
        control_device: of votes and headers; None where it is that of the data.
        cuda_devices: how many CUDA devices there are.
        mpi_is_cuda_aware: whether somebody said so.
        coordinator: group rank that a checkpoint coordinates from; None where it has none.
        global_ranks: the global ranks of the members.
    """

    backend: str
    device: str
    collectives: tuple[str, ...]
    members: int
    has_handle: bool = True
    timeout_seconds: float | None = None
    control_device: str | None = None
    cuda_devices: int = 0
    mpi_is_cuda_aware: bool = False
    coordinator: int | None = None
    global_ranks: tuple[int, ...] = ()


def able(backend: str, device: str, collective: str) -> Able:
    """Whether a back-end does a collective on a kind of device."""
    return _TABLE.get((backend, device), {}).get(collective, "unknown")


def backends_by_device(text: str) -> dict[str, str]:
    """``cpu:gloo,cuda:nccl`` as device to back-end; a bare name stands for every device it may serve.

    The text of ``get_backend()`` is "undefined" after a default initialisation: then nothing is known (D4).
    """
    if ":" in text:
        pairs = [part.partition(":") for part in text.split(",")]
        return {device.strip(): backend.strip() for device, _, backend in pairs}
    return {device: text for name, device in _TABLE if name == text}


def broken_device_rules(use: GroupUse) -> Iterator[Broken]:
    """The D rules that a use of a group breaks."""
    kind, _, index = use.device.partition(":")
    by_device = backends_by_device(use.backend)
    backend = by_device.get(kind)
    if use.members > 1:
        yield from _backend_fits(use, kind, index, backend)
    if (use.members > 1) != use.has_handle:
        what = "no handle: an implicit world would be used" if use.members > 1 else "a handle"
        yield Broken("/members", "D6", f"a scope of {use.members} and {what}")
    if use.members > 1 and use.timeout_seconds is None:
        yield Broken(
            "/timeout_seconds",
            "D7",
            "the group has no timeout of its own: half an hour passes before it fails",
        )
    control = use.control_device or use.device
    if control != "cpu" and "cpu" in by_device and by_device["cpu"] not in ("nccl", "xccl"):
        yield Broken("/control_device", "D8", f"votes on {control}, though {by_device['cpu']} serves the CPU")
    if use.coordinator is not None and use.global_ranks[:1] not in ((), (0,)):
        yield Broken(
            "/coordinator",
            "D9",
            f"coordinator 0 of a group that begins at global rank {use.global_ranks[0]}",
        )


def _backend_fits(use: GroupUse, kind: str, index: str, backend: str | None) -> Iterator[Broken]:
    """D1 to D5: what is used is there."""
    if use.backend == "undefined" or (backend is None and not backends_by_device(use.backend)):
        yield Broken(
            "/backend", "D4", f"{use.backend!r} names no back-end: read the map from device to back-end"
        )
        return
    if backend is None:
        yield Broken("/device", "D4", f"no back-end of {use.backend!r} serves {kind}")
        return
    if backend == "fake":
        yield Broken("/backend", "D5", "the fake back-end never communicates: nothing is agreed on")
        return
    if backend == "nccl" and kind == "cuda" and not (index.isdecimal() and int(index) < use.cuda_devices):
        yield Broken(
            "/device", "D2", f"nccl needs a CUDA device that exists, {use.device!r} of {use.cuda_devices}"
        )
    if backend == "mpi" and kind == "cuda" and not use.mpi_is_cuda_aware:
        yield Broken("/device", "D3", "mpi with CUDA tensors, and nobody said that it is CUDA-aware")
        return
    yield from _collectives_exist(use.collectives, backend, kind, use.mpi_is_cuda_aware)


def _collectives_exist(
    collectives: Sequence[str], backend: str, kind: str, mpi_is_cuda_aware: bool
) -> Iterator[Broken]:
    for position, collective in enumerate(collectives):
        answer = able(backend, kind, collective)
        aware = backend == "mpi" and kind == "cuda" and mpi_is_cuda_aware
        if answer == "no" or (answer == "unknown" and not aware):
            what = "does not do" if answer == "no" else "is not known to do"
            yield Broken(f"/collectives/{position}", "D1", f"{backend} {what} {collective} on {kind}")
