"""A broken document is refused with a code and a place, or read as what it says; nothing else happens."""

import json
import random

import pytest
from hypothesis import given, settings

from fuzz import strategies
from fuzz.cases import Selection, compose
from fuzz.documents.json_tree import Raw, slots, text_of, tree_of
from fuzz.documents.mutants import DOCUMENT_MUTANTS, document_text, forms_of
from fuzz.documents.reading import reading
from fuzz.layouts import LAYOUTS
from fuzz.strategies import BrokenDocument
from verifier.diagnostics.codes import find_code
from verifier.formats.reading.places import locate

LINE = document_text(
    {"logical_shape": [1], "ranks": {"0": {"shard_shape": [1], "pieces": [1.5, "x", None, True]}}}
)


@given(strategies.broken_documents())
@settings(max_examples=200)
def test_reading_refuses_with_a_code_and_a_place_or_reads_what_it_says(broken: BrokenDocument) -> None:
    came = reading(broken.data, broken.original)
    assert came.outcome == "refused" or not broken.mutant.sure
    assert bool(came.refused) or came.outcome != "refused"
    for refused in came.refused:
        assert refused.code in broken.mutant.codes
        if refused.line is None and refused.code != "SM006":
            assert locate(broken.data.decode("utf-8", "replace"), refused.origin.pointer) is not None


@given(strategies.documents())
@settings(max_examples=60)
def test_documents_are_read_as_they_are(data: bytes) -> None:
    assert reading(data, data).outcome == "equal"
    assert text_of(tree_of(data).value).encode() == data


@pytest.mark.parametrize("name", DOCUMENT_MUTANTS)
def test_every_defect_is_made_and_mostly_refused(name: str) -> None:
    mutant = DOCUMENT_MUTANTS[name]
    layouts = list(LAYOUTS)
    refused = made = 0
    for index in range(42):
        rng = random.Random(f"{name}:{index}")
        case = compose(rng, Selection(right=1.0, size=24), layouts[index % len(layouts)])
        original = document_text(forms_of(case)[index % 4])
        data = mutant(rng, original)
        if data is None:
            continue
        assert data != original
        came = reading(data, original)
        assert {r.code for r in came.refused} <= mutant.codes
        made += 1
        refused += came.outcome == "refused"
    assert made >= 10
    assert refused == made if mutant.sure else refused >= made // 4


def test_codes_are_codes() -> None:
    for mutant in DOCUMENT_MUTANTS.values():
        assert mutant.codes
        assert all(find_code(code) is not None for code in mutant.codes)


def test_defects_of_json_that_python_would_take() -> None:
    """What ``json.loads`` reads without a word is there for the strict reader to refuse."""
    rng = random.Random(0)
    document = document_text(forms_of(compose(rng, Selection(right=1.0), "column"))[0])
    for name in ("duplicate-key", "no-number", "colliding-ranks"):
        data = DOCUMENT_MUTANTS[name](rng, document)
        assert data is not None
        assert json.loads(data) is not None


def test_slots_are_every_place_of_a_tree() -> None:
    root = tree_of(LINE)
    paths = [slot.path for slot in slots(root)]
    assert paths[:4] == [(), ("logical_shape",), ("logical_shape", 0), ("ranks",)]
    assert len(paths) == 12
    for slot in reversed(list(slots(root))):
        if slot.path and slot.path[-1] == "pieces":
            slot.put(Raw("[1e999]"))
            slot.rename("tail")
    assert text_of(root.value).endswith('"tail": [1e999]}}}')
    with pytest.raises(TypeError):
        root.rename("key")
