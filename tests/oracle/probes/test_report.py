"""The report of torch's optimizers is made by one command."""

from __future__ import annotations

from tests.oracle.probes import report
from verifier.oracle.probes.torch_optimizers import optimizer_named


def test_every_part_of_the_report_is_there() -> None:
    name = "SGD (no momentum)"
    text = report.text(*report.probed_all([optimizer_named(name)]))
    for part in (
        "## Corrupted state dicts",
        "### How often",
        "### Beside the published",
        "## The other probes",
    ):
        assert part in text
    assert f"| {name} | 22 | 7 |" in text
    assert "SGD (no momentum): cases 22 -> 21" in text
