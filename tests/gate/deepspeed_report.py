"""The constructors of the installed DeepSpeed release under the gate, as a report.

python -m tests.gate.deepspeed_report --out reports/gate-deepspeed-0.19.8.md
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from tests.gate.markdown import code, table
from tests.symbolic.deepspeed_domains import CONSTRUCTORS, CUT, Posed, gathered
from verifier.audit.check import Settings
from verifier.diagnostics.snippets import affine_text
from verifier.diagnostics.wording import shape_text
from verifier.gate.declared import Declaration
from verifier.gate.gating import Gated, gate
from verifier.gate.hostile_report import Tried, good_arguments, tried
from verifier.gate.literals import call_text, shown
from verifier.gate.loading import Loaded

COMMAND = "python -m tests.gate.deepspeed_report --out reports/gate-deepspeed-0.19.8.md"
DEGREES = (1, 2, 3, 4, 8)
PLACES = ((1, 0), (2, 0), (2, 1), (3, 0), (3, 2), (4, 0), (4, 3))
"""Axes of the parameter, and the one that is cut: the first or the last."""
SHOWN = 2
"""The degree at which sizes and maps are shown."""
NAMES = {
    "contiguous": "contiguous_split_map",
    "fused": "sub_param_map",
    "segmented": "segmented_map",
    "gathered": "block_gather_map",
    "replicated": "replicated_map",
    "experts": "autoep_placement_to_affine_map",
}
PRECONDITIONS = {
    "contiguous": "`shape[partition_dim] == sum(per_rank_sizes)`",
    "fused": "`shape[partition_dim] == sum(sub_dim_sizes)`, and for each of three parts "
    "`sub_dim_sizes[k] == sum(shard_widths[k])`",
    "segmented": "`shape[partition_dim]` is the sum of four segments, two of which are split (that the "
    "widths of these add up is checked by the constructor itself, with words)",
    "gathered": "`shape[partition_dim] == 24 * block_size`; the block ids, each once, shuffled",
    "replicated": "none",
    "experts": "none on sizes; a descriptor of `2 * TP + 1` scattered, uneven and replicated experts on `TP` "
    "ranks, `shape[0]` the number of experts",
}


class Proof(NamedTuple):
    """One constructor at one place and degree."""

    gated: Gated
    seconds: float


def loaded(name: str, posed: Posed) -> Loaded:
    """A constructor of the release, under the name it has there."""
    module = posed.constructor.__module__
    where = f"deepspeed.checkpoint.{module.removeprefix('released_')}:{NAMES[name]}"
    return Loaded(where, posed.constructor, frozenset({module.partition(".")[0]}), "", Path.cwd())


def proof(name: str, axes: int, dim: int, degree: int, *, without: bool = False) -> Proof:
    posed = CONSTRUCTORS[name](axes, dim, degree)
    started = time.process_time()
    found = gate(loaded(name, posed), Declaration(posed.without if without else posed.over), Settings())
    return Proof(found, time.process_time() - started)


def places(name: str) -> Iterator[tuple[int, int]]:
    """Where a constructor can cut; the others have no cut dimension."""
    yield from PLACES if name in CUT else sorted({(axes, 0) for axes, _ in PLACES})


def proved() -> Iterator[str]:
    """The table of proofs."""
    rows = []
    refusals: dict[str, str] = {}
    for name in CONSTRUCTORS:
        for axes, dim in places(name):
            proofs = [proof(name, axes, dim, degree) for degree in DEGREES]
            for one in proofs:
                if one.gated.subject.verdict != "proved":
                    raise AssertionError((name, axes, dim, one.gated.subject))
                refusals.update([(name, line) for line in one.gated.refusals[:1]])
            cut = f"{dim} of {axes}" if name in CUT else f"none of {axes}"
            counts = [str(one.gated.subject.obligations.proved) for one in proofs]
            rows.append([code(NAMES[name]), cut, *counts, f"{proofs[-1].seconds:.2f}"])
    head = ["constructor", "cut dimension", *[f"TP {degree}" for degree in DEGREES], "seconds at TP 8"]
    yield from table(head, rows)
    for name, line in refusals.items():
        error = line.partition(": ")[2].rpartition("; e.g. at ")[0]
        yield f"\n{code(NAMES[name])} refuses other sizes of this domain by name: {code(error)}."


def refuted() -> Iterator[str]:
    """The table of smallest sizes without preconditions."""
    rows = []
    for name in CUT:
        for axes, dim in places(name):
            at = {degree: proof(name, axes, dim, degree, without=True).gated for degree in DEGREES}
            for found in at.values():
                if found.subject.verdict != "refuted" or not found.subject.findings[0].witness["least"]:
                    raise AssertionError((name, axes, dim, found.subject))
            finding = at[SHOWN].subject.findings[0]
            sizes = finding.headline.partition(" map at ")[2]
            fault = finding.claim.partition(": ")[0].removeprefix("error") or finding.about
            rows.append([code(NAMES[name]), f"{dim} of {axes}", code(sizes), fault])
    yield from table(["constructor", "cut dimension", f"smallest sizes at TP {SHOWN}", "fault"], rows)


def hostile() -> Iterator[str]:
    """How bad arguments end, and every wrong map that came back silently."""
    words = ("refused", "raised", "endless", "right", "wrong")
    rows, listed = [], []
    for name in CONSTRUCTORS:
        for axes, dim in [(2, 0), (2, 1)] if name in CUT else [(2, 0)]:
            posed = (
                gathered(axes, dim, SHOWN, 6) if name == "gathered" else CONSTRUCTORS[name](axes, dim, SHOWN)
            )
            called = loaded(name, posed)
            good = gate(called, Declaration(posed.over), Settings()).example
            runs = tried(called, good_arguments(called, posed.over, good), Settings())
            counts = Counter(one.word for one in runs)
            cut = f"{dim} of {axes}" if name in CUT else "none"
            rows.append([code(NAMES[name]), cut, str(len(runs)), *[str(counts[word]) for word in words]])
            wrong = [one for one in runs if one.word == "wrong"]
            listed += [f"\n### {NAMES[name]}, cut dimension {cut}: {len(wrong)} silent wrong maps\n"]
            listed += [line for one in wrong for line in silent(one)]
    head = ["constructor", "cut dimension", "bad calls", "refused by name", "raised something else",
            "did not end", "right map", "**wrong map, silently**"]  # fmt: skip
    yield from table(head, rows)
    yield from listed


def silent(one: Tried) -> Iterator[str]:
    """One bad call, what is wrong with its map, and the map."""
    call = f"{one.call.argument}={shown(one.call.value)}"
    arguments = {name: value for name, value in one.call.arguments.items() if name != "descriptor"}
    yield f"* {code(call)} ({one.call.kind}), in {code(call_text(arguments))}"
    if one.judged is None or one.outcome.returned is None:
        yield f"  * {one.outcome.words}"
        return
    finding = one.judged.findings[0]
    yield f"  * {finding.code}: {finding.concise}"
    made = one.outcome.returned.shard_map
    yield f"  * parameter {shape_text(made.logical_shape)}"
    for rank, shard in made.ranks.items():
        pieces = [affine_text(piece)[0] for piece in shard.pieces[:4]]
        more = f" and {len(shard.pieces) - 4} more" if len(shard.pieces) > 4 else ""
        held = code(", ".join(pieces) or "nothing")
        yield f"  * rank {rank}, shard {shape_text(shard.shard_shape)}: {held}{more}"


HEAD = """\
# Constructors of DeepSpeed {release} under the gate

Made by `{command}`; do not edit. Seconds are those of the machine; all else is the same everywhere.

The constructors are those of the installed release, unmodified. Sizes, widths and segments are symbolic;
degrees of tensor parallelism and numbers of dimensions are those of the tables.

## Under these preconditions
"""
PROVED = """
## Proved for all sizes

Obligations proved at each degree.
"""
REFUTED = """
## Without the preconditions: the smallest sizes at which each fails

Each is refuted at TP {degrees}. None of them compares what it is given.
"""
HOSTILE = """
## Bad arguments

From arguments that are right at TP {shown}, one at a time is replaced: zero, negative, one more, far too
large, bool, fractions, text, None, 2^63, 2^100, lists that are empty, truncated, too long, with duplicates,
or that compensate. A map is wrong where the concrete prover refutes that it is sound.
"""


def report() -> Iterator[str]:
    """The whole report, line by line."""
    yield HEAD.format(release=version("deepspeed"), command=COMMAND)
    stated = [[code(NAMES[name]), condition] for name, condition in PRECONDITIONS.items()]
    yield from table(["constructor", "has to be right where"], stated)
    yield PROVED
    yield from proved()
    yield REFUTED.format(degrees=", ".join(map(str, DEGREES)))
    yield from refuted()
    yield HOSTILE.format(shown=SHOWN)
    yield from hostile()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.parse_args().out.write_text("\n".join([*report(), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
