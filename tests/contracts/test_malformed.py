"""Documents that a reader of the reference vocabulary accepts and should not: each has its rule."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.contracts.malformed import Malformed, malformed
from verifier.contracts.cases import check_document

ALL = list(malformed())


def test_each_has_a_name_of_its_own() -> None:
    counted = Counter(item.what for item in ALL)
    assert len(counted) >= 60
    assert max(counted.values()) == 1


@pytest.mark.parametrize("item", ALL, ids=lambda item: item.what)
def test_is_refused_with_its_rule_and_right_without_the_place(item: Malformed) -> None:
    right = check_document(item.right, "x")
    assert (right.verdict, right.broken) == ("valid", ())
    checked = check_document(item.document, "x")
    if item.remark:
        assert (checked.verdict, checked.remarks) == ("valid", (item.rule,))
    else:
        assert item.rule in checked.rules
