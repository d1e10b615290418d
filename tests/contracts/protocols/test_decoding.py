"""Protocols as JSON: what is malformed is named, with its place."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.command import CORPUS
from verifier.contracts.protocols.decoding import ProtocolError, decode_protocol, expected_rules

CASES = [json.loads(path.read_text()) for path in sorted((CORPUS / "contracts/protocols").glob("*.json"))]


def protocol(*steps: object, **more: object) -> dict[str, object]:
    return {"name": "p", "program": list(steps), **more}


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "an object with a name and a program"),
        ({"name": "p"}, "an object with a name and a program"),
        ({"name": "", "program": []}, "name is no text"),
        (protocol(colour=1), "'colour' is no member"),
        (protocol({"jump": "x"}), "/program/0: expected one of local"),
        (protocol({"local": "x", "vote": "world"}), "/program/0: expected one of"),
        (protocol({"local": ""}), "/program/0: local is no text"),
        (protocol({"vote": "moon"}), "there is no group 'moon'"),
        (protocol({"collective": "world"}), "kind is no text"),
        (protocol({"collective": "world", "kind": "all_reduce", "shape": [True]}), "shape is no list"),
        (protocol({"raise_if_agreed": 1}), "write raise_if_agreed: true"),
        (protocol({"repeat": [], "times": -1}), "times is no integer"),
        (protocol({"repeat": [], "times": True}), "times is no integer"),
        (protocol({"try": {"local": "x"}}), "/program/0/try: expected a list"),
        (protocol({"try": [{"local": 3}]}), "/program/0/try/0: local is no text"),
        (protocol({"if_local": "c", "than": []}), "'than' is no member of if_local"),
        (protocol(groups={}), "groups is no object with a group"),
        (protocol(groups={"g": [1, 0]}), "not ascending"),
        (protocol(groups={"g": [-1]}), "no list of ranks"),
        (protocol(roles={"x": "owner"}), "'x' in roles"),
    ],
)
def test_what_is_malformed_is_named(document: object, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint.replace("(", r"\(").replace("[", r"\[")):
        decode_protocol(document)


@pytest.mark.parametrize("expect", ["S1", ["S9"], [1]])
def test_an_answer_is_a_list_of_rules(expect: object) -> None:
    with pytest.raises(ProtocolError, match="no list of rules"):
        expected_rules(protocol(expect=expect))


def test_nesting_is_bounded() -> None:
    step: object = {"local": "x"}
    for _ in range(60):
        step = {"try": [step]}
    with pytest.raises(ProtocolError, match="nested more than"):
        decode_protocol(protocol(step))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(CASES), st.data())
def test_any_value_anywhere_is_read_or_named(case: dict[str, object], data: st.DataObject) -> None:
    document = json.loads(json.dumps(case))
    at: object = document
    while isinstance(at, dict | list) and at:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or data.draw(st.booleans()):  # type: ignore[index]
            at[key] = data.draw(JSON)  # type: ignore[index]
            break
        at = at[key]  # type: ignore[index]
    with contextlib.suppress(ProtocolError):
        assert decode_protocol(document).name
