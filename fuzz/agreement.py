"""Where a judgement and a walk of the same map cannot both be right.

The verdict must be the walk's. Beyond it, everything a judgement says of addresses is held against the walk:
each address is wrong, by the family of its code; on each side the least one is the walk's least; counts are
the walk's counts. A witness may be right and not least only where a rule for single pieces found it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fuzz.walk import CODES, PARAMETER_SIDE, SHARD_SIDE, Family, Walk
from verifier.audit.judge import Judgement
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.verdicts import Proved, Refuted, Undecided

FAMILY: dict[str, Family] = {code: family for family, codes in CODES.items() for code in codes}
"""The condition behind each code."""

COUNTED: frozenset[Family] = frozenset({"hole", "uncovered", "repeated"})
"""Families whose faults are counted by address, each address under one code."""


def disagreements(
    walked: Walk, judgement: Judgement, shard_map: ShardMap, expectation: Expectation
) -> Iterator[str]:
    """In words, everything in which they differ. An undecided verdict is no disagreement."""
    match judgement.verdict:
        case Undecided():
            return
        case Proved() if not walked.ok:
            yield f"proved, but the walk finds {_words(walked)}"
            return
        case Refuted(witness) if walked.ok:
            yield f"refuted for {witness.code}, but the walk finds nothing wrong"
            return
    faults = [fault for fault in flattened(judgement.faults) if not fault.undecided]
    for fault in faults:
        yield from _wrong_claims(walked, fault)
    for fault in judgement.faults:
        if fault.others and fault.others[0] != fault.address:
            yield f"{fault.code} at {fault.address}, but {fault.others[0]} has it too"
    for rank in shard_map.ranks:
        on_shard = [f for f in faults if f.side == "shard" and f.rank == rank and _on(f, SHARD_SIDE)]
        yield from _not_least(on_shard, walked.least_on_shard(rank), f"shard address of rank {rank}", ())
    # A piece without holders, or with unknown ones, is refuted without looking at its elements.
    if not expectation.lookup and not any(fault.code in ("SM107", "SM108") for fault in faults):
        on_parameter = [f for f in faults if f.side == "parameter" and _on(f, PARAMETER_SIDE)]
        folded = flattened(c for f in judgement.faults if f.side == "shard" for c in f.consequences)
        yield from _not_least(on_parameter, walked.least_on_parameter, "element", folded)
    yield from _expected(walked, faults, shard_map, decided=not any(f.undecided for f in judgement.faults))


def flattened(faults: Iterable[Fault]) -> Iterator[Fault]:
    """Faults, then their consequences, then those of these."""
    level = list(faults)
    while level:
        yield from level
        level = [consequence for fault in level for consequence in fault.consequences]


def _words(walked: Walk) -> str:
    first = walked.violations[0]
    return f"{first.family} on rank {first.rank} at {first.wrong[:1] or first.pairs[:1]}"


def _on(fault: Fault, families: frozenset[Family]) -> bool:
    return FAMILY.get(fault.code) in families


def _not_least(
    faults: Sequence[Fault], least: int | None, what: str, folded: Iterable[Fault]
) -> Iterator[str]:
    """The faults of one side, in the order in which people read them, against its least wrong address.

    The first fault that rests on a question (it shows ``others``) is at the least address of all, unless a
    rule for single pieces names that (such pieces may be left out of the question) or it was ``folded`` into
    a fault of the other side.
    """
    named = [fault.address for fault in faults if fault.address is not None]
    elsewhere = {fault.address for fault in faults if not fault.others}
    elsewhere.update(fault.address for fault in folded if fault.side == "parameter")
    asked = [fault.address for fault in faults if fault.others]
    if min(named, default=None) != least:
        yield f"least wrong {what} {min(named, default=None)}, but the walk's is {least}"
    elif asked and asked[0] != least and least not in elsewhere:
        yield f"first wrong {what} {asked[0]}, but {least} is wrong too"


def _wrong_claims(walked: Walk, fault: Fault) -> Iterator[str]:
    """What one fault says that the walk does not."""
    family = FAMILY.get(fault.code)
    if family is None:
        yield f"unexpected code {fault.code}: {fault.values}"
        return
    if family in {"reference", "scale-rule", "unit"}:  # held against the walk as a whole
        return
    rank = fault.rank if family in SHARD_SIDE or family in {"sign", "scale", "width"} else None
    found = [v for v in walked.violations if v.family == family and v.rank == rank]
    if not found and not (family == "width" and fault.side == "map"):
        yield f"{fault.code} on rank {fault.rank}, but the walk finds no {family} there"
        return
    if fault.side in ("shard", "parameter") and fault.address is not None:
        wrong = found[0].wrong
        if fault.address not in wrong:
            yield f"{fault.code} at {fault.address}, but there the walk finds no {family}"
        if family in COUNTED and fault.count is not None and fault.count.exact:
            if fault.count.number != len(wrong):
                yield f"{fault.code} {fault.count.number} times, but the walk counts {len(wrong)}"
            if fault.others and fault.others != wrong[: len(fault.others)]:
                yield f"{fault.code} at {fault.others}, but the walk finds {wrong[:6]}"


def _expected(walked: Walk, faults: list[Fault], shard_map: ShardMap, *, decided: bool) -> Iterator[str]:
    """Comparisons with the reference always agree; scale rules and units where the map is sound."""
    codes = {fault.code for fault in faults}
    if ("SM501" in codes) != ("reference" in walked.families):
        yield f"reference: codes {sorted(codes)}, but the walk finds {sorted(walked.families)}"
    for rank in shard_map.ranks:
        pairs = [_pair(f) for f in faults if f.code == "SM501" and f.rank == rank and f.address is not None]
        if pairs and min(pairs) != walked.least_pair(rank):
            yield f"rank {rank}: differs first at {min(pairs)}, but the walk's is {walked.least_pair(rank)}"
    if decided and walked.families <= {"reference", "scale-rule", "unit"}:
        for code, family in (("SM505", "scale-rule"), ("SM506", "unit")):
            if (code in codes) != (family in walked.families):
                yield f"{family}: codes {sorted(codes)}, but the walk finds {sorted(walked.families)}"


def _pair(fault: Fault) -> tuple[int, int]:
    source, dest = fault.values["source"], fault.values["dest"]
    if not isinstance(source, int) or not isinstance(dest, int):
        raise TypeError(f"SM501 without numbers: {fault.values}")
    return source, dest
