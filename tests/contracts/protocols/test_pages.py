"""The examples on the explain pages of the S rules violate them."""

from __future__ import annotations

import json

import pytest

from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.decoding import decode_protocol
from verifier.diagnostics.codes import code_of
from verifier.diagnostics.pages import example_in, page_of
from verifier.diagnostics.rule_codes import code_of_rule


@pytest.mark.parametrize("rule", ["S1", "S2", "S3", "S4"])
def test_the_example_of_a_page_violates_its_rule(rule: str) -> None:
    page = page_of(code_of(code_of_rule(rule)))
    assert page is not None
    example = example_in(page)
    assert example is not None
    assert rule in simulate(decode_protocol(json.loads(example))).rules
