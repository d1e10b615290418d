"""The bench of whole checkpoints runs, and what it measures is judged right."""

from __future__ import annotations

import pytest

from tests.bench import checkpoints
from tests.bench.checkpoints import markdown, rows


def test_every_row_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.documents.LLAMA_LAYERS", 2)
    monkeypatch.setattr("tests.bench.documents.EXPERT_LAYERS", 1)
    found = rows(1000)
    assert [row["exit_code"] for row in found] == [0, 0, 0, 0, 0]
    assert found[0]["said"].startswith("proved: 21 maps")
    assert found[1]["said"].startswith("proved: 768 maps")
    assert "1000 chunks" in found[2]["said"]
    assert all(row["peak_mebibytes"] > 5 for row in found)
    report = {"rows": found, "load_average": 0.0, "cores": 2}
    assert markdown(report).count("|\n") >= 7
    assert checkpoints.COMMAND in markdown(report)
