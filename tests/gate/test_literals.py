"""Arguments as text."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.gate.literals import NoLiteralError, as_json, call_text, literal, shown
from verifier.layouts import Shard, StridedShard


@dataclass(frozen=True)
class Derived:
    rows: int
    twice: int = field(init=False, default=0)


plain = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(), st.floats(allow_nan=False, allow_infinity=False)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.integers(), st.text()), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(plain)
def test_a_literal_makes_the_value(value: object) -> None:
    imports: set[tuple[str, str]] = set()
    made = eval(literal(value, imports))
    assert made == value
    assert type(made) is type(value)
    assert not imports


def test_dataclasses_are_calls_and_say_what_to_import() -> None:
    imports: set[tuple[str, str]] = set()
    text = literal([Shard(0), StridedShard(1, 2)], imports)
    assert text == "[Shard(dim=0), StridedShard(dim=1, split_factor=2)]"
    assert imports == {
        ("verifier.model.placements", "Shard"),
        ("verifier.model.placements", "StridedShard"),
    }


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {1, 2}, Derived(3), [object()], type("Local", (int,), {})(3)]
)
def test_what_has_no_literal_is_shown_the_same_on_every_run(value: object) -> None:
    with pytest.raises(NoLiteralError):
        literal(value, set())
    assert " at 0x" not in shown(value)
    assert isinstance(as_json(value), str | list)


def test_calls_and_json() -> None:
    assert call_text({"rows": 5, "widths": [1, 2], "order": "a"}) == "rows=5, widths=[1, 2], order='a'"
    assert as_json({"a": (1, None), "b": 2**100}) == {"a": [1, None], "b": str(2**100)}
    assert len(shown([0] * 1000)) == 300
