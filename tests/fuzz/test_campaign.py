"""Campaigns: the same sum whatever does the work and however often it stops."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from fuzz import campaign
from fuzz.campaign import DiedError, Extent, Progress, run_campaign, run_case
from fuzz.cases import Selection, case_at
from fuzz.outcomes import DISAGREEMENT, SILENT, Tally
from fuzz.store import Chunk, opened
from fuzz.target import Target
from tests.fuzz.targets_for_tests import Crashing, Deadly, Gullible
from verifier.audit.executors import Workers, workers

TARGET = Gullible()


def run(path: Path, extent: Extent, *, target: Target = TARGET, jobs: int = 1) -> Progress:
    with opened(path, target) as store, workers(jobs) as found:
        return run_campaign(target, extent, store, found)


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "MOST", 10)
    monkeypatch.setattr(campaign, "FIRST", 10)


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    extent = Extent((1, 2), campaign.MOST + 30)
    one, two = (run(tmp_path / f"{jobs}.sqlite", extent, jobs=jobs) for jobs in (1, 2))
    assert one.cases == two.cases == 2 * (campaign.MOST + 30)
    assert one.tally == two.tally
    assert one.tally.seen(SILENT) == one.tally.counts["map", "wrong"] > 0


@pytest.mark.usefixtures("small_tasks")
def test_a_stopped_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    extent, path = Extent((1, 2), 45), tmp_path / "s.sqlite"
    whole = run(tmp_path / "whole.sqlite", extent)

    def stop_early(progress: Progress) -> None:
        if progress.cases >= 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), opened(path, TARGET) as store, workers() as found:
        run_campaign(TARGET, extent, store, found, shown=stop_early)
    resumed = run(path, extent)
    assert 40 <= resumed.before < 90
    assert resumed.cases == whole.cases == 90
    assert resumed.tally == whole.tally


@pytest.mark.usefixtures("small_tasks")
def test_a_campaign_that_is_done_runs_nothing(tmp_path: Path) -> None:
    extent = Extent((3,), 25)
    first, second = (run(tmp_path / "s.sqlite", extent) for _ in range(2))
    assert second.before == second.cases == 25
    assert second.tally == first.tally


@pytest.mark.usefixtures("small_tasks")
def test_a_longer_campaign_uses_the_shorter_one(tmp_path: Path) -> None:
    run(tmp_path / "s.sqlite", Extent((3,), 30))
    assert run(tmp_path / "s.sqlite", Extent((3,), 50)).before == 30


@pytest.mark.usefixtures("small_tasks")
def test_results_of_another_selection_are_not_taken(tmp_path: Path) -> None:
    run(tmp_path / "s.sqlite", Extent((3,), 30))
    other = Gullible(selection=Selection(layouts=("row",), size=12))
    assert run(tmp_path / "s.sqlite", Extent((3,), 30), target=other).before == 0


@pytest.mark.usefixtures("small_tasks")
def test_results_of_other_code_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "s.sqlite", Extent((3,), 30))
    monkeypatch.setattr("fuzz.store.source_digest", lambda: "another")
    assert run(tmp_path / "s.sqlite", Extent((3,), 30)).before == 0


@pytest.mark.usefixtures("small_tasks")
def test_time_ends_a_campaign_and_a_later_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count()  # a second goes by whenever the campaign looks at the clock
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)), perf_counter=lambda: 0.0)
    monkeypatch.setattr(campaign, "time", clock)
    assert run(tmp_path / "s.sqlite", Extent((1,), seconds=0)).cases == 0
    first = run(tmp_path / "s.sqlite", Extent((1,), seconds=3.5))
    second = run(tmp_path / "s.sqlite", Extent((1,), seconds=3.5))
    assert (first.before, first.cases) == (0, 8 + 10 + 10)
    assert (second.before, second.cases) == (28, 56)


def test_a_crash_is_a_finding_about_us_and_stops_nothing(tmp_path: Path) -> None:
    found = run(tmp_path / "s.sqlite", Extent((1,), 60), target=Crashing())
    defects = sum(case_at(TARGET.selection, 1, index).mutant is not None for index in range(60))
    assert found.cases == 60
    assert found.tally.row("finding", DISAGREEMENT) == {"crash ZeroDivisionError": defects}
    (example,) = found.tally.findings(DISAGREEMENT)
    assert example.words == "crash, ZeroDivisionError: planted"


def test_a_case_is_run_again_by_its_name() -> None:
    assert run_case(TARGET, 4, 17) == run_case(TARGET, 4, 17)
    assert case_at(TARGET.selection, 5, 77) == case_at(TARGET.selection, 5, 77)
    assert case_at(TARGET.selection, 5, 77) != case_at(TARGET.selection, 6, 77)


def test_the_least_example_of_a_finding_is_kept_whatever_the_order() -> None:
    parts = [run_case(TARGET, 1, index) for index in range(200)]
    forwards, backwards = Tally(), Tally()
    for part in parts:
        forwards.merge(part)
    for part in reversed(parts):
        backwards.merge(part)
    assert forwards == backwards
    every = [found for part in parts for found in part.examples.values()]
    for found in forwards.findings(SILENT):
        same = [one for one in every if one.key == found.key]
        assert found.weight == min(one.weight for one in same)
        assert forwards.counts["finding", SILENT, found.key] == len(same)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_worker_that_dies_names_the_cases_and_loses_nothing(tmp_path: Path, jobs: int) -> None:
    path, target = tmp_path / "s.sqlite", Deadly()
    with opened(path, target) as store, workers(jobs, apart=True) as found:
        with pytest.raises(DiedError) as died:
            run_campaign(target, Extent((1,), 400), store, found)
        done = store.done()
    assert all(target.DEADLY not in range(chunk.start, chunk.stop) for chunk in done)
    named = [pair.split(" to ") for pair in str(died.value).partition("cases ")[2].split(", ")]
    ranges = [range(int(low.partition(":")[2]), int(high.partition(":")[2]) + 1) for low, high in named]
    assert any(target.DEADLY in found for found in ranges)


def test_results_that_overlap_are_counted_once(tmp_path: Path) -> None:
    """As two campaigns at once leave them that fell into other tasks."""
    whole = run(tmp_path / "whole.sqlite", Extent((1,), 60))
    with opened(tmp_path / "s.sqlite", TARGET) as store:
        for chunk in (
            Chunk(1, 0, 20),
            Chunk(1, 10, 30),
            Chunk(1, 25, 40),
            Chunk(1, 40, 50),
            Chunk(1, 45, 90),
        ):
            store.keep(chunk, campaign.run_chunk(TARGET, chunk)[0])
    again = run(tmp_path / "s.sqlite", Extent((1,), 60))
    assert (again.before, again.cases) == (45, 60)
    assert again.tally == whole.tally


def test_tasks_of_a_slow_target_are_small() -> None:
    pace = campaign._Pace()
    pace.learn(Chunk(1, 0, 8), 8.0)
    assert pace.cases == 2
    pace.learn(Chunk(1, 8, 10), 20.0)
    assert pace.cases == 1
    for _ in range(20):
        pace.learn(Chunk(1, 0, pace.cases), 0.001 * pace.cases)
    assert pace.cases == campaign.MOST


def test_workers_are_given_few_tasks_ahead() -> None:
    from verifier.audit.executors import AHEAD, in_any_order

    begun: list[int] = []

    def inputs() -> Iterator[int]:
        for number in range(100):
            begun.append(number)
            yield number

    with workers() as found:
        three = Workers(found.executor, 3)
        results = in_any_order(three, abs, inputs())
        next(results)
        assert len(begun) <= AHEAD * 3
        assert len(list(results)) == 99  # the first was taken above
        assert begun == list(range(100))
