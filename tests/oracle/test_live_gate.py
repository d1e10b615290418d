"""Verdicts on live models: both defects of torch 2.13 are shown before anything is trained."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.distributed.tensor import Replicate, Shard

from tests.oracle.live_models import (
    Holder,
    disagreeing,
    distributed,
    fsdp_over_tp,
    ordered,
    packed,
    partial,
    tensor_parallel,
)
from verifier.audit.check import Settings
from verifier.diagnostics.report import Report
from verifier.gate.live import gate_model, map_of, model_report
from verifier.oracle.live import inspect_model
from verifier.oracle.live_parameter import Box

SETTINGS = Settings()


def codes(report: Report) -> list[tuple[str, str]]:
    return [(subject.name, finding.code) for subject, finding in report.findings]


def test_an_even_model_is_proved() -> None:
    report = gate_model(fsdp_over_tp(12, 3, 2), 6, SETTINGS)
    assert (report.exit_code, codes(report)) == (0, [])
    assert [subject.name for subject in report.subjects][:2] == ["0.weight", "0.bias"]
    assert report.tool["torch"] == torch.__version__


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="this is about torch 2.13")
def test_fsdp_over_tensor_parallelism_on_an_uneven_dimension_is_refuted() -> None:
    report = gate_model(fsdp_over_tp(7, 3, 2), 6, SETTINGS)
    assert report.exit_code == 1
    assert codes(report) == [("0.weight", "SM204"), ("0.bias", "SM204")]
    assert report.findings[0][1].concise == (
        "rank 4: the local tensor states (0, 2), one of 2 such ranks, the map (1, 2) for"
        " [_S(0, 2), S(0)] on a mesh of fsdp=3, tp=2"
    )


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="this is about torch 2.13")
def test_a_shard_that_is_no_box_is_not_checkpointable_either() -> None:
    report = gate_model(fsdp_over_tp(13, 3, 2), 6, SETTINGS)
    assert codes(report) == [
        *(("0.weight", "SM204"), ("0.weight", "SM507")),
        *(("0.bias", "SM204"), ("0.bias", "SM507")),
    ]
    assert report.findings[1][1].concise == (
        "a distributed checkpoint (DCP) states (2, 2) at (6, 0) for rank 4, the map 2 boxes, the first"
        " (1, 2) at (6, 0), for [_S(0, 2), S(0)] on a mesh of fsdp=3, tp=2; not checkpointable as is"
    )


def test_a_shard_order_of_its_own_is_refuted() -> None:
    report = gate_model(lambda: Holder(a_buffer=ordered(15)), 4, SETTINGS)
    assert codes(report) == [("a_buffer", "SM507")]
    assert "(4, 1) at (4, 0) for rank 1, the map (4, 1) at (8, 0)" in report.findings[0][1].concise
    assert "cut in the order 0 by 1, 0; not checkpointable as is" in report.findings[0][1].concise


def test_a_bias_that_is_cut_unlike_its_weight_is_refuted() -> None:
    report = gate_model(packed, 2, SETTINGS)
    assert codes(report) == [("weight", "SM507"), ("bias", "SM507")]
    assert "rows 0 to 2, 6 to 8 on rank 0, the map rows 0 to 5" in report.findings[1][1].concise


@pytest.mark.parametrize(
    ("weight", "bias"),
    [
        (distributed, distributed),
        (
            lambda p, *shape: distributed([Shard(1)], *shape),
            lambda p, *shape: distributed([Replicate()], *shape),
        ),
        (lambda p, *shape: distributed([Shard(1)], *shape), distributed),
    ],
    ids=["both cut", "row parallel", "FSDP along another dimension"],
)
def test_biases_that_need_no_cut_of_their_weight_pass(weight, bias) -> None:  # type: ignore[no-untyped-def]
    def build() -> nn.Module:
        return Holder(weight=weight([Shard(0)], 12, 4), bias=bias([Shard(0)], 12))

    assert codes(gate_model(build, 2, SETTINGS)) == []


def test_summands_are_undecided() -> None:
    report = gate_model(partial, 2, SETTINGS)
    assert (report.exit_code, codes(report)) == (3, [("weight", "SM901")])


def test_ranks_that_disagree_are_refuted() -> None:
    report = gate_model(disagreeing, 2, SETTINGS)
    assert codes(report) == [("weight", "SM507")]  # once, not for the ranks of either layout
    assert report.findings[0][1].concise.startswith("rank 1 states [S(1)] on a mesh of tp=2, the map [S(0)]")


def test_meshes_of_several_groups_hold_replicas() -> None:
    inspection = inspect_model(tensor_parallel(2, 2), 4)
    assert [p.locations for _, _, p in map_of(inspection.parameters[0]).pieces()] == [
        (0, 2),
        (1, 3),
        (0, 2),
        (1, 3),
    ]
    assert model_report(inspection, SETTINGS).exit_code == 0


def test_a_box_that_is_wrong_on_one_rank_is_seen() -> None:
    inspection = inspect_model(tensor_parallel(1, 2), 2)
    weight, bias = inspection.parameters
    moved = replace(weight.shards[1], written=(Box((3, 0), (4, 4)),))
    wrong = replace(weight, shards={**weight.shards, 1: moved})
    report = model_report(replace(inspection, parameters=(wrong, bias)), SETTINGS)
    assert codes(report) == [("0.weight", "SM507")]


def test_what_was_not_checked_is_said() -> None:
    def build() -> nn.Module:
        return nn.Sequential(Holder(weight=distributed([Shard(0)], 4)), nn.Linear(2, 2))

    report = gate_model(build, 2, SETTINGS, ranks=[0])
    assert report.exit_code == 0
    assert report.unchecked == (
        "2 plain parameters, which have no layout: 1.weight, 1.bias",
        "1 rank that was not built",
        "other numbers of ranks",
    )


def test_a_model_without_distributed_tensors_is_no_pass() -> None:
    assert gate_model(lambda: nn.Linear(2, 2), 1, SETTINGS).exit_code == 4
