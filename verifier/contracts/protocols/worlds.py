"""Of which numbers of ranks a search speaks. Theory: T30."""

from __future__ import annotations

from itertools import groupby

from verifier.contracts.protocols.checker import Simulation
from verifier.contracts.protocols.language import Protocol
from verifier.diagnostics.wording import counted, shown_name

OTHER = "other"
"""What a rank is that nothing tells apart from those of its kind."""


def in_words(protocol: Protocol, ranks: int) -> str:
    """The world by what tells ranks apart: ``5 ranks: 0 owner; 1 in dp; 2-4 other``."""
    count = counted(ranks, "rank")
    alike: dict[str, list[int]] = {}
    for rank in range(ranks):
        alike.setdefault(_kind(protocol, rank), []).append(rank)
    if [*alike] == [OTHER]:
        return count
    return f"{count}: {'; '.join(f'{_runs(members)} {kind}' for kind, members in alike.items())}"


def _kind(protocol: Protocol, rank: int) -> str:
    groups = [name for name, members in protocol.groups.items() if rank in (members or ())]
    words = [protocol.roles.get(rank, ""), f"in {', '.join(groups)}" if groups else ""]
    return shown_name(" ".join(filter(None, words))) or OTHER


def _runs(ranks: list[int]) -> str:
    """Ascending numbers, neighbours together: ``0, 2-4``."""
    runs = [[rank for _, rank in run] for _, run in groupby(enumerate(ranks), lambda at: at[1] - at[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def speaks_of_all(protocol: Protocol, ranks: int) -> bool:
    """Whether a world of ``ranks`` goes wrong if a larger one does: it has two others."""
    return protocol.is_open and ranks >= protocol.least_ranks


def validity(protocol: Protocol, ranks: int) -> str:
    """For which numbers of ranks it holds that nothing goes wrong in a world of ``ranks``."""
    world = in_words(protocol, ranks)
    if not speaks_of_all(protocol, ranks):
        return f"safe with {world}; not searched with other numbers of ranks"
    return f"safe with any number of ranks from {protocol.fewest_ranks} on; searched with {world} (T30)"


def left_open(protocol: Protocol, found: Simulation) -> str | None:
    """What a complete search leaves open of other numbers of ranks; None where it speaks of all.

    With two others S4 may be hidden, and only where S3 is broken; three show that as well.
    """
    name = shown_name(protocol.name)
    if not speaks_of_all(protocol, found.ranks):
        return f"other numbers of ranks than {found.ranks} ({name})"
    others = found.ranks - len(protocol.apart)
    if "S3" in found.rules and "S4" not in found.rules and others == 2:
        return f"S4 with more than {found.ranks} ranks ({name})"
    return None
