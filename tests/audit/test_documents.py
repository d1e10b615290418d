"""Auditing paths: who does the work changes nothing, a stopped audit goes on, one bad file hides nothing."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders import columns, piece, shard_map
from verifier.audit.cache import Cache, CacheError
from verifier.audit.check import Settings
from verifier.audit.documents import Audit, audit_path, audit_paths
from verifier.audit.executors import workers
from verifier.certificates.encode import map_to_json
from verifier.model.shard_map import ShardMap
from verifier.render.json_hub import render_json

STOPS_AFTER_ONE_BATCH = """
import sys
from verifier.audit.cache import Cache
from verifier.cli.main import main

def keep_and_wait(cache, proofs, keep=Cache.keep):
    keep(cache, proofs)
    print("kept", flush=True)
    sys.stdin.read()

Cache.keep = keep_and_wait
main()
"""
Keep = Callable[[Cache, Mapping[str, str]], None]
HOLE = shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})


def write_params(path: Path, maps: dict[str, ShardMap]) -> Path:
    params = {f"^{name}$": map_to_json(found) for name, found in maps.items()}
    path.write_text(json.dumps({"version": 1, "params": params}))
    return path


def many(count: int) -> dict[str, ShardMap]:
    """Maps, some equal, one wrong."""
    maps = {f"w{k}": columns(1 + k % 7, 1 + k % 5, 2 + k % 3) for k in range(count)}
    maps[f"w{count // 2}"] = HOLE
    return maps


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_params(tmp_path_factory.mktemp("maps") / "maps.json", many(300))


@pytest.fixture(scope="module")
def alone(document: Path) -> str:
    return render_json(audit_paths([document], Audit()))


@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_change_nothing(jobs: int, document: Path, alone: str) -> None:
    with workers(jobs, start="spawn") as found:
        assert render_json(audit_paths([document], Audit(workers=found))) == alone


def test_a_cluster_changes_nothing(document: Path, alone: str) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        workers(scheduler=cluster.scheduler_address) as found,
    ):
        assert render_json(audit_paths([document], Audit(workers=found))) == alone


def test_parts_are_counted_as_they_are_known_and_done(document: Path) -> None:
    told: list[tuple[int, int]] = []
    audit_paths([document], Audit(done=lambda done, more: told.append((done, more))))
    assert (sum(done for done, _ in told), sum(more for _, more in told)) == (300, 300)
    assert len(told) > 2


def test_a_second_run_takes_what_the_first_one_proved(document: Path, alone: str, tmp_path: Path) -> None:
    cache = tmp_path / "proofs"
    assert render_json(audit_paths([document], Audit(cache=cache))) == alone
    rows = sqlite3.connect(cache).execute("select count(*) from proofs").fetchone()[0]
    assert rows == len({(1 + k % 7, 1 + k % 5, 2 + k % 3) for k in range(300)})
    assert render_json(audit_paths([document], Audit(cache=cache))) == alone


def test_an_audit_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = write_params(
        tmp_path / "large.json", {f"w{k}": columns(3 + k, 5, 8) for k in range(600)} | {"hole": HOLE}
    )
    cache = tmp_path / "proofs"
    command = [sys.executable, "-c", STOPS_AFTER_ONE_BATCH, "audit", str(document), "--cache", str(cache)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"kept\n"
        first.kill()
    assert first.returncode == -signal.SIGKILL
    before = _stored(cache)
    assert 0 < before < 600
    kept: list[int] = []

    def counted(self: Cache, proofs: Mapping[str, str], *, keep: Keep = Cache.keep) -> None:
        kept.append(len(proofs))
        keep(self, proofs)

    monkeypatch.setattr(Cache, "keep", counted)
    report = audit_paths([document], Audit(cache=cache))
    assert (sum(kept), _stored(cache)) == (600 - before, 600)
    assert render_json(report) == render_json(audit_paths([document], Audit()))


def _stored(cache: Path) -> int:
    with closing(sqlite3.connect(cache)) as connection:
        return int(connection.execute("select count(*) from proofs").fetchone()[0])


def test_a_cache_that_is_none_stops_the_audit_before_it_begins(document: Path, tmp_path: Path) -> None:
    cache = tmp_path / "proofs"
    cache.write_bytes(b"not a database" * 200)
    with pytest.raises(CacheError):
        audit_paths([document], Audit(cache=cache))
    assert cache.read_bytes() == b"not a database" * 200


def test_an_unreadable_file_hides_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    good = write_params(tmp_path / "good.json", {"w": HOLE})
    report = audit_paths([broken, good, tmp_path / "absent"], Audit())
    assert [subject.verdict for subject in report.subjects] == ["unreadable", "refuted", "unreadable"]


def test_a_folder_without_any_checkpoint_says_so(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "notes.txt").write_text("nothing")
    (subject,) = audit_path(tmp_path, Settings()).subjects
    assert subject.verdict == "unreadable"
    assert "no map is in this directory" in subject.findings[0].concise


def test_equal_runs_of_one_process_say_the_same(document: Path, alone: str) -> None:
    assert render_json(audit_paths([document, document], Audit())).count('"verdict": "refuted"') == 4
    assert render_json(audit_paths([document], Audit())) == alone
