"""Equal geometries are proved once, and what an earlier run left is believed only after it was checked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders import columns, piece, replicated, shard_map
from verifier.audit import check as checking
from verifier.audit.cache import CacheError, opened
from verifier.audit.check import Settings, check_subject
from verifier.audit.proofs import Proofs
from verifier.diagnostics.report import Subject
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap

SETTINGS = Settings()
SOUND = Expectation()
ANSWERING = SETTINGS.answering()
MAP = columns(3, 2, 4)


def subject_of(found: ShardMap, proofs: Proofs, expectation: Expectation = SOUND) -> Subject:
    return checked(found, SETTINGS, proofs, expectation)


def checked(found: ShardMap, settings: Settings, proofs: Proofs, expectation: Expectation = SOUND) -> Subject:
    return check_subject(found, expectation, settings, settings.answering(), proofs=proofs)


def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on judging anew is an error."""

    def fail(*arguments: object, **more: object) -> None:
        raise AssertionError("judged again")

    monkeypatch.setattr(checking, "judge", fail)


def test_an_equal_map_is_not_judged_again_and_gets_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = Proofs()
    first = subject_of(MAP, proofs)
    unjudged(monkeypatch)
    again = subject_of(replace(MAP, name="layers.1.w"), proofs)
    assert again == replace(first, name="layers.1.w")
    assert again.outcome is not None
    assert again.outcome.certificate.shard_map.name == "layers.1.w"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("other", "expectation"),
    [
        (columns(3, 2, 5), SOUND),
        (replicated((3, 8), 4), SOUND),
        (MAP, Expectation(reference=columns(3, 2, 4))),
        (MAP, Expectation(write_unit=2)),
    ],
)
def test_another_map_or_another_demand_is_judged(
    other: ShardMap, expectation: Expectation, monkeypatch: pytest.MonkeyPatch
) -> None:
    proofs = Proofs()
    subject_of(MAP, proofs)
    unjudged(monkeypatch)
    with pytest.raises(AssertionError, match="judged again"):
        subject_of(other, proofs, expectation)


def test_a_refuted_map_is_not_remembered() -> None:
    wrong = shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})
    proofs = Proofs()
    assert subject_of(wrong, proofs).verdict == "refuted"
    assert proofs.of(wrong, SOUND, ANSWERING) is None


def stored(tmp_path: Path, expectation: Expectation = SOUND) -> dict[str, str]:
    """What an audit of MAP leaves in its cache."""
    with opened(tmp_path / "cache") as cache:
        proofs = Proofs(stored=cache.find)
        subject_of(MAP, proofs, expectation)
        cache.keep(proofs.fresh)
    return proofs.fresh


@pytest.mark.parametrize("expectation", [SOUND, Expectation(write_unit=2), Expectation(reference=MAP)])
def test_a_later_run_takes_the_proof_and_says_the_same(
    expectation: Expectation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path, expectation)
    anew = subject_of(MAP, Proofs(), expectation)
    unjudged(monkeypatch)
    with opened(tmp_path / "cache") as cache:
        assert subject_of(MAP, Proofs(stored=cache.find), expectation) == anew


OTHERWISE = [
    replace(SETTINGS, engine="smt"),
    replace(SETTINGS, budget=SETTINGS.budget.scaled(2)),
    replace(SETTINGS, cross_check=True),
]
"""Other ways to judge than by ``SETTINGS``."""


@pytest.mark.parametrize("otherwise", OTHERWISE)
@pytest.mark.parametrize("is_stored", [False, True])
def test_what_is_to_be_judged_otherwise_is_judged_anew(
    otherwise: Settings, is_stored: bool, tmp_path: Path
) -> None:
    with opened(tmp_path / "cache") as cache:
        proofs = Proofs(stored=cache.find)
        checked(MAP, SETTINGS, proofs)
        cache.keep(proofs.fresh)
        again = Proofs(stored=cache.find) if is_stored else proofs
        assert again.of(MAP, SOUND, ANSWERING) is not None
        assert again.of(MAP, SOUND, otherwise.answering()) is None
        assert checked(MAP, otherwise, again) == checked(MAP, otherwise, Proofs())


def test_a_cross_check_leaves_a_proof_for_others_and_takes_none_itself(tmp_path: Path) -> None:
    crossed = replace(SETTINGS, cross_check=True)
    with opened(tmp_path / "cache") as cache:
        proofs = Proofs(stored=cache.find)
        checked(MAP, crossed, proofs)
        cache.keep(proofs.fresh)
        assert proofs.of(replace(MAP, name="v"), SOUND, crossed.answering()) is not None  # of this run
        assert Proofs(stored=cache.find).of(MAP, SOUND, crossed.answering()) is None
        assert Proofs(stored=cache.find).of(MAP, SOUND, ANSWERING) is not None


@pytest.mark.parametrize(
    "proof",
    [
        "",
        "[]",
        "{}",
        '{"evidence": {}, "answered_by": {}}',
        '{"evidence": {}, "answered_by": {"cancel": 99}}',
        '{"evidence": {}, "answered_by": {"cancel": -1, "x": 6}}',
        '{"evidence": {}, "answered_by": {"cancel": true}}',
        '{"evidence": {"shard/0": {"form": "solver-claim", "solver": "z3", "version": "4"}},'
        ' "answered_by": {"cancel": 5}}',
        '{"evidence": {"shard/9": {"form": "pairs", "work": 0}}, "answered_by": {"cancel": 5}}',
    ],
)
def test_what_somebody_else_wrote_into_the_cache_is_not_believed(proof: str, tmp_path: Path) -> None:
    (key,) = stored(tmp_path)
    with opened(tmp_path / "cache") as cache:
        cache.keep({key: proof})
        proofs = Proofs(stored=cache.find)
        assert proofs.of(MAP, SOUND, ANSWERING) is None
        assert subject_of(MAP, proofs) == subject_of(MAP, Proofs())


def test_a_proof_stored_under_the_key_of_a_wrong_map_proves_nothing(tmp_path: Path) -> None:
    wrong = shard_map((4,), {0: ((3,), [piece((3,), (0, (1,)), (0, (1,)))])})
    proof = json.dumps({"evidence": {}, "answered_by": {"cancel": 2}})
    assert Proofs(stored=lambda key: proof).of(wrong, SOUND, ANSWERING) is None
    assert Proofs(stored=lambda key: proof).of(columns(3, 2, 1), SOUND, ANSWERING) is not None


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("this is no database, and long enough to be taken for one" * 40)
    with pytest.raises(CacheError, match="cache: file is not a database"), opened(tmp_path / "cache"):
        pass
