"""Random and mutated maps, judged by everything that can judge them.

    python -m fuzz.differential --maps 200000 --seed 1 -j 2 --report reports/differential.md

Every answer is held against a walk of every address. The exit status is 0 when nothing disagreed, 70 when
something did; then each disagreement stands in the report with the map as JSON. A case is a function of its
name ``seed:index``, so ``--only 17`` runs case 17 of the seed again. ``-j`` changes nothing but the time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from fuzz.campaign import Campaign, write_json
from fuzz.cases import KINDS, case_at
from fuzz.differential_report import report
from fuzz.layouts import SIZE
from fuzz.trial import Plan, run

CHUNK = 10 * len(KINDS)
"""Cases per task; independent of -j, so that sums are too."""
DISAGREED = 70
"""Exit status of a bug in the tool."""


def chunk(start: int, *, stop: int, seed: int, size: int, plan: Plan) -> Campaign:
    """The cases of one task."""
    campaign = Campaign()
    for index in range(start, min(start + CHUNK, stop)):
        campaign.add(run(case_at(seed, index, size), plan))
    return campaign


def campaign(maps: int, *, seed: int, size: int = SIZE, plan: Plan, jobs: int = 1) -> Campaign:
    """All cases of a seed, in order, whatever the number of processes."""
    task = partial(chunk, stop=maps, seed=seed, size=size, plan=plan)
    starts = range(0, maps, CHUNK)
    total = Campaign()
    for part in _mapped(task, starts, jobs):
        total.merge(part)
    return total


def _mapped(task: partial[Campaign], starts: Sequence[int], jobs: int) -> Iterator[Campaign]:
    if jobs == 1:
        yield from map(task, starts)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(task, starts)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.differential", description=__doc__)
    parser.add_argument("--maps", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=SIZE, help="most elements of a parameter")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--smt-every", type=int, default=50, help="rounds of kinds per round with z3 and isl")
    parser.add_argument("--oracle-every", type=int, default=20, help="rounds of kinds per round with torch")
    parser.add_argument("--tamper-every", type=int, default=2, help="rounds of kinds per tampered round")
    parser.add_argument("--only", type=int, help="one case, by its index")
    parser.add_argument("--report", type=Path, help="where to write the report; the data go beside it")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign and write its report."""
    options = _arguments(arguments)
    plan = Plan(options.smt_every, options.oracle_every, options.tamper_every)
    started = time.monotonic()
    if options.only is not None:
        found = Campaign()
        found.add(run(case_at(options.seed, options.only, options.size), Plan(1, 1, 1)))
    else:
        found = campaign(options.maps, seed=options.seed, size=options.size, plan=plan, jobs=options.jobs)
    seconds = time.monotonic() - started
    for disagreement in found.disagreements:
        print(f"{disagreement.case}  {disagreement.words}")
    maps = found.counts["map", "right"] + found.counts["map", "wrong"]
    print(f"{maps} maps, {len(found.disagreements)} disagreements, {maps / seconds:.0f} maps a second")
    if options.report is not None:
        command = (
            f"python -m fuzz.differential --maps {options.maps} --seed {options.seed} --size {options.size} "
            f"-j {options.jobs} --smt-every {options.smt_every} --oracle-every {options.oracle_every} "
            f"--tamper-every {options.tamper_every} --report {options.report}"
        )
        options.report.write_text(report(found, command, maps / seconds), encoding="utf-8")
        write_json(found, options.report.with_suffix(".json"))
    return DISAGREED if found.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
