"""Compare many DTensor layouts with torch and write down what came of it.

python -m tests.layouts.dtensor_full --cases 3000 --report reports/dtensor.md
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import torch

from tests.layouts.dtensor_cases import EXTENTS, MESHES, case_at
from tests.layouts.dtensor_run import Run, compare, fsdp_over_tp_by_placements

MOST_DIFFERENCES = 20
MOST_ROWS = 64


def main(arguments: list[str] | None = None) -> int:
    """Exit 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.layouts.dtensor_full", description=__doc__)
    parser.add_argument("--cases", type=int, default=3000, help="placement lists (default 3000)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default 1)")
    parser.add_argument("--report", type=Path, required=True, help="the page to write")
    options = parser.parse_args(arguments)
    run = compare(case_at(options.seed, index) for index in range(options.cases))
    command = f"--cases {options.cases} --seed {options.seed} --report reports/{options.report.name}"
    options.report.write_text(page(run, f"python -m tests.layouts.dtensor_full {command}"), encoding="ascii")
    print(f"{run.lists} lists, {run.by_value} shards by value, {len(run.differences)} differences")
    return 1 if run.differences else 0


def page(run: Run, command: str) -> str:
    """The report; the same bytes for the same command and torch."""
    lines = [
        "# DTensor placements, beside torch",
        "",
        f"Made by `{command}` with torch {torch.__version__.split('+')[0]}; do not edit.",
        "",
        f"Each list is random: a mesh of 1 to 3 dimensions (one of {len(MESHES)}, up to"
        f" {max(map(math.prod, MESHES))} ranks), a tensor of 1 to 3 dimensions of {min(EXTENTS)} to"
        f" {max(EXTENTS)} elements, `Shard`, `_StridedShard` with factors 1 to 4 and `Replicate`; some"
        " with a shard order. On every rank, the map of `verifier.layouts.dtensor` is held against",
        "",
        "* the formula, `torch.distributed.tensor._utils._compute_local_shape_and_global_offset`: local shape"
        " and first offset. It is not told of shard orders, so there it is held against the map without one;",
        "* the local tensor itself, element by element: `distribute_tensor` of an index tensor, and for a"
        " shard order a redistribution from a replicated one, as a rank of a fake process group.",
        "",
        "| compared | number |",
        "|---|---:|",
        f"| placement lists | {run.lists:,} |",
        f"| shards by formula | {run.by_formula:,} |",
        f"| shards by value | {run.by_value:,} |",
        f"| **differences** | **{len(run.differences):,}** |",
        "",
        *[f"* {words}" for words in run.differences[:MOST_DIFFERENCES]],
        "## Kinds",
        "",
        "A list may be an example of several.",
        "",
        "| kind | lists |",
        "|---|---:|",
        *[f"| {kind} | {count:,} |" for kind, count in sorted(run.kinds.items())],
        "",
        "## What torch says of its own shards that is not so",
        "",
        "| what | how often | first case |",
        "|---|---:|---|",
        *[f"| {words} | {count:,} | {run.examples[words]} |" for words, count in sorted(run.remarks.items())],
        "",
        *_fsdp_over_tp(),
        "An empty shard begins at the end of its dimension for `Shard.local_shard_size_and_offset`, and at -1"
        " for that of `_StridedShard`: of 1 element in 4 parts the last one has (size, offset) (0, 1) and,"
        " with factor 2, (0, -1).",
    ]
    return "\n".join(lines) + "\n"


def _fsdp_over_tp() -> list[str]:
    """FSDP2 over tensor parallelism on one dimension: what its placements name is not what it makes."""
    found = fsdp_over_tp_by_placements(MOST_ROWS)
    meshes = sorted({(fsdp, tp) for _, fsdp, tp in found})
    rows = {mesh: [row for row, *at in found if tuple(at) == mesh] for mesh in meshes}
    return [
        "`_StridedShard(0, tp), Shard(0)` is what FSDP2 calls a parameter whose rows tensor parallelism has"
        f" cut before it. For these numbers of rows up to {MOST_ROWS} that is another layout than"
        " `fsdp_over_tp`, chunks of chunks. (By our maps; meshes that are not listed have no such rows.)",
        "",
        "| fsdp | tp | rows |",
        "|---:|---:|---|",
        *[f"| {fsdp} | {tp} | {_ranges(rows[fsdp, tp])} |" for fsdp, tp in meshes],
        "",
    ]


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers, runs shortened: 1, 3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


if __name__ == "__main__":
    sys.exit(main())
