"""The store of a campaign: what was put in comes out, and what is no store says so."""

import sqlite3
from pathlib import Path

import pytest

from fuzz.campaign import run_case
from fuzz.outcomes import Tally
from fuzz.store import Chunk, StoreError, opened, source_digest
from tests.fuzz.targets_for_tests import Gullible

TARGET = Gullible()


def some_tally() -> Tally:
    tally = Tally()
    for index in range(60):
        tally.merge(run_case(TARGET, 1, index))
    assert tally.examples
    return tally


def test_a_tally_comes_back_as_it_was(tmp_path: Path) -> None:
    tally = some_tally()
    with opened(tmp_path / "s.sqlite", TARGET) as store:
        store.keep(Chunk(1, 0, 60), tally)
    with opened(tmp_path / "s.sqlite", TARGET) as store:
        assert store.done() == {Chunk(1, 0, 60)}
        assert store.tally(Chunk(1, 0, 60)) == tally


def test_campaigns_share_a_file_and_not_their_results(tmp_path: Path) -> None:
    with opened(tmp_path / "s.sqlite", TARGET) as store:
        store.keep(Chunk(1, 0, 10), Tally())
    with opened(tmp_path / "s.sqlite", Gullible(version="2")) as store:
        assert store.done() == set()
    with opened(tmp_path / "s.sqlite", TARGET) as store:
        assert store.done() == {Chunk(1, 0, 10)}


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be read as one" * 20, b"\x00" * 512]
)
def test_a_file_that_is_no_store_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="notes"), opened(path, TARGET):
        pass
    assert path.read_bytes() == content


def test_a_store_in_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="missing"), opened(tmp_path / "missing" / "s.sqlite", TARGET):
        pass


def test_a_database_of_somebody_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table campaigns (name text)")
    with pytest.raises(StoreError, match="theirs"), opened(path, TARGET):
        pass


def test_the_digest_of_the_source_is_stable() -> None:
    assert source_digest() == source_digest()
    assert len(source_digest()) == 16
