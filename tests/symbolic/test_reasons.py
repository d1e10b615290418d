"""Why a domain is proved in part: each kind of reason once."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from verifier.symbolic.search import MOST_REASONS, reasons


def ways(*texts: str) -> list[Any]:
    return [SimpleNamespace(reason=text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["a"], "a"),
        (["a, where n >= 1"], "a, where n >= 1"),
        (["a, where n >= 1", "a, where n == 0", "a, where n == 2"], "a, where n >= 1 (and 2 more)"),
        (["a, where n >= 1", "b"], "a, where n >= 1; b"),
        (["a", "b", "a", "c", "d"], "a; b; c (and 2 more)"),
    ],
)
def test_each_kind_is_told_once(texts: list[str], told: str) -> None:
    assert reasons(ways(*texts)) == told


def test_no_more_than_a_few_kinds_are_told() -> None:
    told = reasons(ways(*map(str, range(100))))
    assert told.count(";") == MOST_REASONS - 1
    assert re.search(r"\(and 97 more\)$", told)
