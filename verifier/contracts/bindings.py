"""What ties a contract to a running job: groups with their handles (R62, N30), slots of parameters (R65).

A group may say how it is used; then the device rules D1 to D9 are about it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from verifier.contracts.broken import Broken
from verifier.contracts.cutting import decode_group
from verifier.contracts.devices import GroupUse, broken_device_rules
from verifier.contracts.reading import MOST_MEMBERS, UNREAD, Members, Value, repeated

DEVICE = re.compile(r"(cpu|cuda|xpu)(:(0|[1-9][0-9]?|1[01][0-9]|12[0-7]))?")
"""As ``torch.device`` reads it: an index has no leading zero, and one from 128 on is not what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBinding:
    """One process group of a job, as one member sees it.

    Attributes:
        group: its name.
        members: in their order.
        member: which of them this process is.
        device: that tensors of its collectives are on, as torch writes it.
        handle: whether a process group stands behind it; one member needs none.
        use: what is done with it, None where that is not said.
    """

    group: str | None
    members: tuple[str, ...]
    member: str
    device: str
    handle: bool
    use: GroupUse | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBinding:
    """Which parameter is at a place of an optimizer: ``slot`` counts inside its ``group`` of parameters."""

    group: int
    slot: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """The bindings of one job, either kind."""

    groups: tuple[GroupBinding, ...]
    slots: tuple[SlotBinding, ...]


def decode_bindings(value: Value) -> Bindings:
    """The bindings; what cannot be read of them is noted and stands for something harmless."""
    members = Members(value, "R62")
    bindings = Bindings(
        groups=members.optional("groups", lambda v: tuple(map(_group, v.items("R62"))), ()),
        slots=members.optional("slots", lambda v: tuple(map(_slot, v.items("R65", MOST_MEMBERS))), ()),
    )
    members.done()
    return bindings


def _group(value: Value) -> GroupBinding:
    members = Members(value, "R62")
    group, listed = decode_group(members.need("group", "R62", {"name": "group", "members": [UNREAD]}))
    if group is None:
        value.broken("R62", "the group is not named")
    device = members.need("device", "R62", "cpu").text("R62", "cpu")
    handle = members.need("handle", "R62", False).flag("R62")
    binding = GroupBinding(
        group=group,
        members=listed,
        member=members.need("member", "R62", UNREAD).text("R62"),
        device=device,
        handle=handle,
        use=members.optional("use", lambda v: _use(v, device, len(listed), handle), None),
    )
    members.done()
    return binding


def _use(value: Value, device: str, ranks: int, handle: bool) -> GroupUse:
    """How a group is used; a timeout that is not given is one that nobody set."""
    members = Members(value, "R62")
    use = GroupUse(
        backend=members.need("backend", "R62", "undefined").text("R62", "undefined"),
        device=_without_cpu_index(device),
        collectives=tuple([v.text("R62") for v in members.need("collectives", "R62", []).items("R62")]),
        members=ranks,
        has_handle=handle,
        timeout_seconds=members.optional("timeout_seconds", lambda v: v.integer("R62", least=1), None),
        control_device=members.optional("control_device", _control_device, None),
        cuda_devices=members.optional("cuda_devices", lambda v: v.integer("R62", least=0), 0),
        mpi_is_cuda_aware=members.optional("mpi_is_cuda_aware", lambda v: v.flag("R62"), False),
        coordinator=members.optional("coordinator", lambda v: v.integer("R62", least=0), None),
        global_ranks=members.optional("global_ranks", _global_ranks, ()),
    )
    members.done()
    return use


def _control_device(value: Value) -> str:
    """The device of votes."""
    device = value.text("R62", "cpu")
    if not DEVICE.fullmatch(device):
        value.broken("R62", f"{device!r} is no device of torch's: cpu, cuda or xpu, with or without an index")
    return _without_cpu_index(device)


def _without_cpu_index(device: str) -> str:
    """There is one CPU, whatever its index."""
    return "cpu" if device.startswith("cpu:") else device


def _global_ranks(value: Value) -> tuple[int, ...]:
    return tuple([rank.integer("R62", least=0) for rank in value.items("R62", MOST_MEMBERS)])


def _slot(value: Value) -> SlotBinding:
    members = Members(value, "R65")
    binding = SlotBinding(
        group=members.need("group", "R65", 0).integer("R65", least=0),
        slot=members.need("slot", "R65", 0).integer("R65", least=0),
        name=members.need("name", "R65", UNREAD).text("R65"),
    )
    members.done()
    return binding


def broken_binding_rules(bindings: Bindings) -> Iterator[Broken]:
    """Every rule that bindings break whose values have the right types."""
    for position, binding in enumerate(bindings.groups):
        yield from _group_is_bound(f"/groups/{position}", binding)
    for position, slot in enumerate(bindings.slots):
        if slot.name != slot.name.lower():
            yield Broken(
                f"/slots/{position}/name", "R65", f"{slot.name!r} is not the lower-case name of a parameter"
            )
    for position, (group, place) in repeated([(slot.group, slot.slot) for slot in bindings.slots]):
        yield Broken(f"/slots/{position}", "R65", f"slot {place} of group {group} is bound twice")
    for position, name in repeated([slot.name for slot in bindings.slots]):
        if name != UNREAD:
            yield Broken(f"/slots/{position}/name", "R65", f"{name!r} is in two slots")
    yield from _groups_are_told_apart(bindings)


def _groups_are_told_apart(bindings: Bindings) -> Iterator[Broken]:
    """N30: one name of a group stands for one list of members, whose order is that of their ranks."""
    groups: dict[str, tuple[str, ...]] = {}
    for position, binding in enumerate(bindings.groups):
        if binding.group is None:
            continue
        first = groups.setdefault(binding.group, binding.members)
        if first != binding.members:
            what = "members in another order" if {*first} == {*binding.members} else "other members"
            yield Broken(f"/groups/{position}/group", "N30", f"{binding.group!r} is bound to {what} as well")


def _group_is_bound(at: str, binding: GroupBinding) -> Iterator[Broken]:
    """R62: this process is a member, on a device that has collectives, with a handle exactly if not alone."""
    if binding.member not in binding.members:
        yield Broken(f"{at}/member", "R62", f"{binding.member!r} is no member of {binding.group!r}")
    if not DEVICE.fullmatch(binding.device):
        words = f"{binding.device!r} is no device of torch's: cpu, cuda or xpu, with or without an index"
        yield Broken(f"{at}/device", "R62", words)
    if binding.handle != (len(binding.members) > 1):
        what = "with" if binding.handle else "without"
        yield Broken(f"{at}/handle", "R62", f"{len(binding.members)} members {what} a process group")
    elif binding.use is not None:
        yield from _device_fits(at, binding.use)


def _device_fits(at: str, use: GroupUse) -> Iterator[Broken]:
    """D1 to D9; the device is a member of the binding, all else of its use."""
    if use.global_ranks and len(use.global_ranks) != use.members:
        told = f"{len(use.global_ranks)} global ranks for {use.members} members"
        yield Broken(f"{at}/use/global_ranks", "R62", told)
    for found in broken_device_rules(use):
        place = at if found.pointer == "/device" else f"{at}/use"
        yield replace(found, pointer=place + found.pointer)
