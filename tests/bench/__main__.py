"""``python -m tests.bench --out reports/bench.json``: measure, write JSON, and page and plot beside it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from tests.bench.bench import Plan, progress, run
from tests.bench.markdown import render
from tests.bench.measure import Effort
from tests.bench.plot import growth


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="JSON file; the page gets the suffix .md, the plot .svg"
    )
    parser.add_argument("--family", action="append", default=[], help="only this family; may be repeated")
    parser.add_argument("--peer", action="append", default=[], help="only this peer; may be repeated")
    parser.add_argument("--cap", type=float, default=Effort().cap, help="processor seconds of one call")
    arguments = parser.parse_args()
    plan = Plan(
        effort=Effort(cap=arguments.cap),
        families=frozenset(arguments.family),
        peers=frozenset(arguments.peer),
    )
    command = shlex.join(["python", "-m", "tests.bench", *sys.argv[1:]])
    report = {"command": command, **run(plan, progress)}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    plot = arguments.out.with_suffix(".svg")
    arguments.out.with_suffix(".md").write_text(render(report, plot.name), encoding="utf-8")
    if report["many_boxes"]:
        plot.write_text(growth(report["many_boxes"]), encoding="utf-8")


if __name__ == "__main__":
    main()
