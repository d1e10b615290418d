"""``python -m tests.bench --out reports/bench.json``: measure, write the JSON and the page beside it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from tests.bench.bench import Plan, progress, run
from tests.bench.markdown import render
from tests.bench.measure import Effort


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file; the page gets the suffix .md")
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
    arguments.out.with_suffix(".md").write_text(render(report), encoding="utf-8")


if __name__ == "__main__":
    main()
