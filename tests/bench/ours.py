"""What shardproof itself is timed at: ``check_map``, the same with the checker asked, the checker alone."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.measure import Run
from verifier.audit.check import Settings, check_map, check_subject
from verifier.certificates.check import check_text
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.verdicts import Proved

SOUNDNESS = Expectation()

CHECK = "shardproof check_map"
CONFIRMED = "shardproof audit: certificate checked too"
CHECKER = "certificate checker"


def check(maps: Sequence[ShardMap]) -> Run:
    """What ``check_map`` does: verdict, findings, and a certificate that anybody may check."""
    return _checked(maps, Settings(self_check=False))


def confirmed_check(maps: Sequence[ShardMap]) -> Run:
    """What ``audit`` does with the maps of one document: the same, and the independent checker's consent."""
    return _checked(maps, Settings())


def _checked(maps: Sequence[ShardMap], settings: Settings) -> Run:
    def run() -> bool:
        answering = settings.answering()
        subjects = [check_subject(shard_map, SOUNDNESS, settings, answering) for shard_map in maps]
        return all(subject.verdict == "proved" for subject in subjects)

    return run


def certificate_check(maps: Sequence[ShardMap]) -> Run:
    """The trusted checker on the texts of the certificates."""
    texts = []
    for shard_map in maps:
        outcome = check_map(shard_map).subjects[0].outcome
        if not isinstance(outcome, Proved):
            raise ValueError(f"{shard_map.name} is not proved")
        texts.append(outcome.certificate.to_text())

    def run() -> bool:
        return all(check_text(text) == () for text in texts)

    return run
