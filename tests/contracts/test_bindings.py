"""R62 and R65: groups and slots of a job."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.damaging import with_value
from verifier.contracts.cases import check_document

BOUND: dict[str, Any] = {
    "bindings": {
        "groups": [
            {
                "group": {"name": "dp", "members": ["a", "b"]},
                "member": "b",
                "device": "cuda:1",
                "handle": True,
            },
            {"group": {"name": "self", "members": ["a"]}, "member": "a", "device": "cpu", "handle": False},
        ],
        "slots": [
            {"group": 0, "slot": 0, "name": "layer.weight"},
            {"group": 0, "slot": 1, "name": "layer.bias"},
        ],
    }
}
GROUP = ("bindings", "groups", 0)
SLOT = ("bindings", "slots", 1)


def test_bindings_that_fit() -> None:
    checked = check_document(BOUND, "x")
    assert (checked.kind, checked.verdict, checked.broken) == ("bindings", "valid", ())


@pytest.mark.parametrize(
    ("at", "value", "rule"),
    [
        ((*GROUP, "member"), "c", "R62"),
        ((*GROUP, "member"), 1, "R62"),
        ((*GROUP, "device"), "cuda:x", "R62"),
        ((*GROUP, "device"), "meta", "R62"),
        ((*GROUP, "handle"), False, "R62"),
        ((*GROUP, "handle"), 1, "R62"),
        ((*GROUP, "group"), None, "R62"),
        ((*GROUP, "group", "members"), {"a": 0}, "N32"),
        ((*GROUP, "group", "members"), [], "R5"),
        (("bindings", "groups", 1, "handle"), True, "R62"),
        (("bindings", "groups"), {}, "R62"),
        ((*SLOT, "slot"), True, "R65"),
        ((*SLOT, "slot"), -1, "R65"),
        ((*SLOT, "slot"), 0, "R65"),
        ((*SLOT, "group"), 1.0, "R65"),
        ((*SLOT, "name"), "layer.Bias", "R65"),
        ((*SLOT, "name"), 3, "R65"),
    ],
)
def test_one_change_breaks_its_rule(at: Any, value: Any, rule: str) -> None:
    assert check_document(with_value(BOUND, at, value), "x").rules == (rule,)
