"""Workers: this process, others, and a cluster of dask.distributed on loopback, all with one result."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.campaign import MOST, Extent, run_campaign
from fuzz.outcomes import Tally
from fuzz.store import opened
from tests.fuzz.targets_for_tests import Gullible
from verifier.audit.executors import NoClusterError, in_any_order, workers


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed", reason="extra: cluster")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as local:
        yield local.scheduler_address


def tally(folder: Path, name: str, *, jobs: int = 1, scheduler: str | None = None) -> Tally:
    target = Gullible()
    with opened(folder / f"{name}.sqlite", target) as store, workers(jobs, scheduler) as found:
        return run_campaign(target, Extent((1, 2), MOST + 50), store, found).tally


def test_one_process_two_processes_and_a_cluster_agree(tmp_path: Path, cluster: str) -> None:
    here = tally(tmp_path, "here")
    assert tally(tmp_path, "pool", jobs=2) == here
    assert tally(tmp_path, "cluster", scheduler=cluster) == here


def test_a_cluster_says_how_many_workers_it_has(cluster: str) -> None:
    with workers(scheduler=cluster) as found:
        assert found.count == 2
        assert sorted(in_any_order(found, abs, iter(range(-9, 0)))) == [(n, -n) for n in range(-9, 0)]


def test_a_task_that_fails_on_the_cluster_fails_here(cluster: str) -> None:
    with workers(scheduler=cluster) as found, pytest.raises(TypeError):
        list(in_any_order(found, abs, iter(["no number"])))  # type: ignore[arg-type]


def test_nobody_at_the_address_is_said() -> None:
    pytest.importorskip("distributed", reason="extra: cluster")
    with pytest.raises(NoClusterError, match=r"127\.0\.0\.1:1"), workers(scheduler="tcp://127.0.0.1:1"):
        pass


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with (
        pytest.raises(NoClusterError, match=r"shardproof\[cluster\]"),
        workers(scheduler="tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_input_has_its_result_once(jobs: int) -> None:
    with workers(jobs) as found:
        assert sorted(in_any_order(found, abs, iter(range(-40, 0)))) == [(n, -n) for n in range(-40, 0)]
        assert list(in_any_order(found, abs, iter(()))) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_that_fails_fails_here(jobs: int) -> None:
    with workers(jobs) as found, pytest.raises(TypeError):
        list(in_any_order(found, abs, iter([1, "no number"])))  # type: ignore[list-item]
