"""R66 to R68, N31: portable state is closed, plain and complete; no change of a digit goes unnoticed."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import pytest

from tests.contracts.damaging import damaged, with_value, without
from verifier.contracts.cases import NotACaseError, check_document
from verifier.contracts.portable import digest_of


def tensor(dtype: str, shape: list[int], data: bytes) -> dict[str, Any]:
    return {"tensor": {"dtype": dtype, "shape": shape, "data": data.hex()}}


STATE: dict[str, Any] = {
    "format": "shardproof.optimizer_state",
    "version": 1,
    "common": {"seed": 3, "nothing": None, "ratio": 0.5},
    "parameters": {
        "layer.w": {
            "parameter": {"fqn": "layer.w", "shape": [2]},
            "variant": "all",
            "state": {
                "step": tensor("float32", [], struct.pack("<f", 1.0)),
                "buffer": tensor("float32", [2], struct.pack("<2f", 1.0, 2.0)),
                "codes": tensor("uint8", [2, 0], b""),
                "history": [{"tuple": [1, True, "x"]}, {"dict": {"a": 2}}],
            },
        }
    },
}
PARAMETER = ("parameters", "layer.w")
BUFFER = (*PARAMETER, "state", "buffer", "tensor")


def complete(document: Any) -> Any:
    completion = {"status": "complete", "algorithm": "sha256", "digest": digest_of(document)}
    return {**document, "completion": completion}


def test_complete_state_is_valid() -> None:
    checked = check_document(complete(STATE), "x")
    assert (checked.kind, checked.verdict, checked.broken) == ("portable state", "valid", ())


@pytest.mark.parametrize(
    ("at", "value", "rule"),
    [
        (("version",), 2, "R66"),
        (("version",), True, "R66"),
        (("extra",), 1, "R66"),
        (("common",), [], "R66"),
        ((*PARAMETER, "parameter", "fqn"), "layer.v", "R66"),
        ((*PARAMETER, "variant"), "", "R66"),
        ((*PARAMETER, "extra"), 1, "R66"),
        ((*PARAMETER, "parameter", "shape"), {}, "N32"),
        ((*PARAMETER, "parameter", "shape"), "2", "R3"),
        (("common", "seed"), 2**70, "R67"),
        (("common", "seed"), {"function": "os.system"}, "R67"),
        (("common", "seed"), {}, "R67"),
        (("common", "seed"), {"dict": {"a": {}}}, "R67"),
        ((*BUFFER, "dtype"), "complex64", "R67"),
        ((*BUFFER, "shape"), [3], "R67"),
        ((*BUFFER, "shape"), [-2], "R67"),
        ((*BUFFER, "shape"), [2, 1, 1.0], "R67"),
        ((*BUFFER, "data"), "0000803F00000040", "R67"),
        ((*BUFFER, "data"), "0000803f0000004", "R67"),
        ((*BUFFER, "data"), "0000803f0000807f", "R67"),
        ((*BUFFER, "data"), "0000803f0000c0ff", "R67"),
        ((*BUFFER, "device"), "cuda", "R67"),
    ],
)
def test_one_change_breaks_its_rule(at: Any, value: Any, rule: str) -> None:
    changed = with_value(STATE, at, value)
    assert check_document(complete(changed), "x").rules == (rule,)


@pytest.mark.parametrize(
    ("name", "rules", "remarks"), [("Layer.w", ("N31",), ()), ("layer.w.b", (), ("N31",))]
)
def test_N31_names_are_told_apart(name: str, rules: tuple[str, ...], remarks: tuple[str, ...]) -> None:
    parameters = STATE["parameters"]
    other = with_value(parameters["layer.w"], ("parameter", "fqn"), name)
    checked = check_document(complete({**STATE, "parameters": {**parameters, name: other}}), "x")
    assert (checked.rules, checked.remarks) == (rules, remarks)
    assert checked.broken[0].pointer == f"/parameters/{name}"


def test_a_number_that_JSON_has_not_is_refused() -> None:
    changed = with_value(STATE, ("common", "ratio"), float("inf"))
    assert check_document({**changed, "completion": complete(STATE)["completion"]}, "x").rules == ("R67",)


@pytest.mark.parametrize(
    ("dtype", "data", "finite"),
    [
        ("float16", "003c", True),
        ("float16", "007c", False),
        ("bfloat16", "803f", True),
        ("bfloat16", "807f", False),
        ("bfloat16", "c1ff", False),
        ("float64", "000000000000f03f", True),
        ("float64", "000000000000f07f", False),
        ("int16", "007c", True),
        ("bool", "01", True),
        ("bool", "02", False),
        ("bool", "ff", False),
    ],
)
def test_elements_of_every_dtype_are_values_of_it(dtype: str, data: str, finite: bool) -> None:
    value = {"tensor": {"dtype": dtype, "shape": [], "data": data}}
    changed = with_value(STATE, ("common", "seed"), value)
    assert check_document(complete(changed), "x").rules == (() if finite else ("R67",))


@pytest.mark.parametrize(
    ("name", "value"),
    [("status", "partial"), ("algorithm", "md5"), ("digest", "0" * 64), ("digest", "0" * 63), ("note", 1)],
)
def test_a_completion_that_is_not_right(name: str, value: object) -> None:
    changed = with_value(complete(STATE), ("completion", name), value)
    assert check_document(changed, "x").rules == ("R68",)


def test_without_completion_it_is_incomplete() -> None:
    assert check_document(STATE, "x").rules == ("R68",)
    assert check_document(without(complete(STATE), ("common",)), "x").rules == ("R66",)


def test_no_change_goes_unnoticed() -> None:
    """Whatever is damaged breaks a rule, and where nothing else does the digest is another."""
    rng, right = random.Random(3), complete(STATE)
    text = json.dumps(right, sort_keys=True)
    for _ in range(1500):
        changed = damaged(rng, right)
        try:
            broken = check_document(changed, "x").errors
        except NotACaseError:
            continue
        assert broken or json.dumps(changed, sort_keys=True) == text, changed
