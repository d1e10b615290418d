"""What ``shardproof audit`` of one small map costs from a cold start, beside bare Python and torch."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.maps import segments_map
from verifier.certificates.encode import map_to_json
from verifier.geometry.strided import StridedView
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap

HEAVY = ("torch", "z3", "numpy", "rich", "islpy", "jinja2")
"""What an audit of simple maps must not pay for."""

BARE = "python -c pass"
TORCH = "python -c 'import torch'"
AUDIT_PROVED = "shardproof audit, proved map"
AUDIT_REFUTED = "shardproof audit, refuted map"

_LAUNCH = "from verifier.cli.main import main; main()"

_MODULES = """
import sys
from verifier.cli.main import main
try:
    main()
except SystemExit as stop:
    code = stop.code or 0
heavy = [name for name in {heavy!r} if name in sys.modules]
print(code, *heavy, file=sys.stderr)
"""


def small_maps(folder: Path) -> tuple[Path, Path]:
    """Two JSON files: a right column split over 2 ranks, and one whose second piece starts a column early."""
    right = segments_map("weight", 4, [8], 2)
    piece = right.ranks[1].pieces[0]
    moved = Piece(StridedView(3, piece.shape, piece.source.strides), piece.dest, piece.locations)
    wrong = ShardMap(
        name="weight",
        logical_shape=right.logical_shape,
        ranks={0: right.ranks[0], 1: RankShard(right.ranks[1].shard_shape, (moved,))},
    )
    paths = folder / "right.json", folder / "wrong.json"
    for path, shard_map in zip(paths, (right, wrong), strict=True):
        path.write_text(json.dumps(map_to_json(shard_map)), encoding="ascii")
    return paths


def modules_after_audit(path: Path) -> tuple[int, list[str]]:
    """The exit code of an audit, and which heavy modules its process had imported by its end."""
    script = _MODULES.format(heavy=HEAVY)
    child = subprocess.run(
        [sys.executable, "-c", script, "audit", str(path)], capture_output=True, text=True, check=True
    )
    code, *heavy = child.stderr.splitlines()[-1].split()
    return int(code), heavy


def measure(processes: int) -> dict[str, object]:
    """Wall and processor time of whole processes, medians and minima in seconds; the modules imported."""
    with tempfile.TemporaryDirectory() as folder:
        right, wrong = small_maps(Path(folder))
        commands = {
            BARE: ["-c", "pass"],
            AUDIT_PROVED: ["-c", _LAUNCH, "audit", str(right)],
            AUDIT_REFUTED: ["-c", _LAUNCH, "audit", str(wrong)],
            TORCH: ["-c", "import torch"],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(processes):
            for name, arguments in commands.items():
                times[name].append(_one_process([sys.executable, *arguments]))
        imported = {
            verdict: dict(zip(("exit_code", "heavy_modules"), modules_after_audit(path), strict=True))
            for verdict, path in (("proved", right), ("refuted", wrong))
        }
    return {
        "processes": processes,
        "looked_for": list(HEAVY),
        "modules": imported,
        "seconds": {name: _summary(samples) for name, samples in times.items()},
    }


def _one_process(arguments: Sequence[str]) -> tuple[float, float]:
    """(wall, processor) seconds of one process from start to end."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _summary(samples: Sequence[tuple[float, float]]) -> dict[str, float]:
    walls, processors = zip(*samples, strict=True)
    return {
        "wall_median": statistics.median(walls),
        "wall_least": min(walls),
        "cpu_median": statistics.median(processors),
        "cpu_least": min(processors),
    }
