"""One finding per cause: faults that follow from another one are folded into it.

A piece that leaves its shard also leaves a hole there; a piece that reads from the wrong place also leaves an
element without a holder. What is reported is what comes first on its side: the piece itself, then its shard,
then the parameter, then the comparison with a reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from verifier.obligations.faults import Count, Fault

_SHARD_CAUSES = frozenset({"SM101", "SM105", "SM109"})
_PARAMETER_CAUSES = frozenset({"SM102", "SM105", "SM106", "SM107", "SM108", "SM109", "SM401"})


def by_cause(
    direct: Iterable[Fault], structural: Iterable[Fault], expected: Iterable[Fault]
) -> tuple[Fault, ...]:
    """The faults to report, in order, each with its consequences.

    ``direct`` are seen on single pieces, ``structural`` come from the shard and parameter obligations, in
    catalogue order, ``expected`` from the reader's expectation. Of the faults of the parameter the one at the
    least element comes first. Undecided demands and disagreements of engines are never folded.
    """
    primary = _merged(direct)
    for fault in sorted(structural, key=_by_address):
        _place(primary, fault, _structural_cause(primary, fault))
    unsound = _first_refuted(primary)
    for fault in expected:
        _place(primary, fault, _same_code(primary, fault) if unsound is None else unsound)
    return tuple(primary)


def _place(primary: list[Fault], fault: Fault, cause: int | None) -> None:
    if cause is None or fault.undecided or fault.code.startswith("TB"):
        primary.append(fault)
        return
    found = primary[cause]
    if fault not in (found, *found.consequences):  # two ranks see the edge between them from either side
        primary[cause] = replace(found, consequences=(*found.consequences, fault))


def _by_address(fault: Fault) -> int:
    """Shards keep their order; elements of the parameter, which several obligations speak of, are sorted."""
    return fault.address + 1 if fault.side == "parameter" and fault.address is not None else 0


def _merged(direct: Iterable[Fault]) -> list[Fault]:
    """Equal codes of one rank as one fault that counts the pieces; SM401 at the least element."""
    merged: dict[tuple[str, int | None], Fault] = {}
    for fault in direct:
        key = (fault.code, fault.rank)
        first = merged.get(key)
        if first is None:
            merged[key] = replace(fault, count=Count(1, exact=True)) if fault.pieces else fault
        elif first.count is not None:
            least = min(first, fault, key=_by_address) if fault.code == "SM401" else first
            merged[key] = replace(least, count=Count(first.count.number + 1, exact=True))
    return list(merged.values())


def _structural_cause(primary: Sequence[Fault], fault: Fault) -> int | None:
    """The position of the fault that explains this one."""
    for position, found in enumerate(primary):
        if found.undecided:
            continue
        if fault.side == "shard" and found.rank == fault.rank and found.code in _SHARD_CAUSES:
            return position
        if fault.side == "parameter" and _explains_parameter(found, fault):
            return position
    return None


def _explains_parameter(found: Fault, fault: Fault) -> bool:
    if found.side == "parameter" or found.code in _PARAMETER_CAUSES:
        return True
    # A missing piece leaves as many shard addresses unwritten as elements unheld.
    return found.code == "SM203" and fault.code == "SM301" and _same_exact(found.count, fault.count)


def _same_exact(first: Count | None, second: Count | None) -> bool:
    return first is not None and first == second and first.exact


def _first_refuted(primary: Sequence[Fault]) -> int | None:
    return next((k for k, fault in enumerate(primary) if not fault.undecided), None)


def _same_code(primary: Sequence[Fault], fault: Fault) -> int | None:
    """An expectation that fails on many ranks is one finding, at the first of them."""
    return next((k for k, found in enumerate(primary) if found.code == fault.code), None)
