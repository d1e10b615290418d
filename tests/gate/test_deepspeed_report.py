"""The report on DeepSpeed's constructors: one row of it made again, and that the stored one is complete."""

from __future__ import annotations

from tests.cli.command import ROOT
from tests.gate.deepspeed_report import DEGREES, NAMES, loaded, places, proof
from tests.symbolic.deepspeed_domains import CONSTRUCTORS, CUT, experts

STORED = ROOT / "reports" / "gate-deepspeed-0.19.8.md"


def test_a_row_is_made_again() -> None:
    counts = [proof("contiguous", 2, 1, degree).gated.subject.obligations.proved for degree in DEGREES]
    row = f"| `contiguous_split_map` | 1 of 2 | {' | '.join(map(str, counts))} | "
    assert row in STORED.read_text(encoding="utf-8")


def test_without_its_precondition_each_is_refuted_at_the_sizes_of_the_report() -> None:
    text = STORED.read_text(encoding="utf-8")
    for name in CUT:
        finding = proof(name, 2, 1, 2, without=True).gated.subject.findings[0]
        sizes = finding.headline.partition(" map at ")[2]
        assert f"| `{NAMES[name]}` | 1 of 2 | `{sizes}` | " in text


def test_the_stored_report_is_complete() -> None:
    text = STORED.read_text(encoding="utf-8")
    for name in CONSTRUCTORS:
        for axes, dim in places(name):
            cut = f"{dim} of {axes}" if name in CUT else f"none of {axes}"
            assert f"| `{NAMES[name]}` | {cut} | " in text
        assert f"### {NAMES[name]}, cut dimension " in text


def test_constructors_are_called_as_the_release_calls_them() -> None:
    where = loaded("experts", experts(2, 0, 2)).where
    assert where == "deepspeed.checkpoint.autoep_affine:autoep_placement_to_affine_map"
