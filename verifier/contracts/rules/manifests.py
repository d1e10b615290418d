"""Rules about the cuts of several parameters together: R27 in part, R28, R29, N30, N31."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from verifier.contracts.broken import Broken
from verifier.contracts.shards import ParameterCut


def broken_manifest_rules(cuts: Sequence[ParameterCut]) -> Iterator[Broken]:
    """What the cuts of several parameters must agree in. R27: there is one at least."""
    if not cuts:
        yield Broken("", "R27", "there is no cut")
    yield from _names_are_unique(cuts)
    for position, found in names_are_told_apart([cut.fqn for cut in cuts]):
        yield replace(found, pointer=f"/{position}")
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


def names_are_told_apart(names: Sequence[str]) -> Iterator[tuple[int, Broken]]:
    """N31: names differ in more than case; none should be the dotted beginning of another.

    Each broken rule comes with the position of the name, and without a place.
    """
    folded: dict[str, str] = {}
    known = {*names}
    for position, name in enumerate(names):
        other = folded.setdefault(name.lower(), name)
        if other != name:
            yield position, Broken("", "N31", f"{name!r} and {other!r} differ in case only")
        above = next((short for short in _above(name) if short in known), None)
        if above is not None:
            yield position, Broken("", "N31", f"{above!r} is the beginning of {name!r}", remark=True)


def _above(name: str) -> Iterator[str]:
    """The dotted beginnings of a name, the longest first."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
