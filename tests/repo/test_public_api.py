"""The public names: all there, none loaded before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import verifier


@pytest.mark.parametrize("name", verifier.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(verifier, name).__doc__ or name == "Verdict"


def test_no_other_name_is() -> None:
    with pytest.raises(AttributeError, match="no attribute 'prove'"):
        verifier.prove  # noqa: B018
    with pytest.raises(ImportError):
        from verifier import prove  # noqa: F401


def test_importing_the_package_imports_none_of_its_parts() -> None:
    script = "import sys, verifier; print(*[m for m in sys.modules if m.startswith('verifier.')])"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert finished.stdout.split() == []


def test_report_of_a_map_built_by_hand() -> None:
    view = verifier.StridedView(0, (2,), (1,))
    shard = verifier.RankShard((2,), (verifier.Piece(view, view, (0,)),))
    report = verifier.check_map(verifier.ShardMap(name="w", logical_shape=(3,), ranks={0: shard}))
    assert isinstance(report.verdict, verifier.Refuted)
    assert [finding.code for _, finding in report.findings] == ["SM301"]
    with pytest.raises(verifier.NotProved, match="SM301"):
        report.raise_if_not_proved()
    fine = verifier.check_map(
        verifier.ShardMap(name="w", logical_shape=(2,), ranks={0: shard}), cross_check=True
    )
    fine.raise_if_not_proved()
    assert isinstance(fine.verdict, verifier.Proved)
