"""Rules about the cuts of several parameters together: R28, R29, N30, N31."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.contracts.broken import Broken
from verifier.contracts.shards import ParameterCut


def broken_manifest_rules(cuts: Sequence[ParameterCut]) -> Iterator[Broken]:
    """What the cuts of several parameters must agree in."""
    yield from _names_are_unique(cuts)
    yield from _names_are_told_apart(cuts)
    groups: dict[str, tuple[str, ...]] = {}
    for position, cut in enumerate(cuts):
        if cut.group is not None and groups.setdefault(cut.group, cut.members) != cut.members:
            yield Broken(f"/{position}", "N30", f"the group {cut.group!r} has two lists of members")


def _names_are_unique(cuts: Sequence[ParameterCut]) -> Iterator[Broken]:
    """R28 and R29: one parameter of a name, and one cut of it."""
    shapes: dict[str, tuple[int, ...]] = {}
    for position, cut in enumerate(cuts):
        if cut.fqn not in shapes:
            shapes[cut.fqn] = cut.shape
        elif shapes[cut.fqn] != cut.shape:
            yield Broken(f"/{position}", "R28", f"{cut.fqn!r} has two shapes")
        else:
            yield Broken(f"/{position}", "R29", f"{cut.fqn!r} is cut twice")


def _names_are_told_apart(cuts: Sequence[ParameterCut]) -> Iterator[Broken]:
    """N31: names differ in more than case; none should be the dotted beginning of another."""
    folded: dict[str, str] = {}
    names = {cut.fqn for cut in cuts}
    for position, cut in enumerate(cuts):
        other = folded.setdefault(cut.fqn.lower(), cut.fqn)
        if other != cut.fqn:
            yield Broken(f"/{position}", "N31", f"{cut.fqn!r} and {other!r} differ in case only")
        above = next((name for name in _above(cut.fqn) if name in names), None)
        if above is not None:
            yield Broken(f"/{position}", "N31", f"{above!r} is the beginning of {cut.fqn!r}", remark=True)


def _above(name: str) -> Iterator[str]:
    """The dotted beginnings of a name, the longest first."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
