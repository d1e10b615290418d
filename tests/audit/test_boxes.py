"""Parameters stored as boxes: the verdict is that of the cells they cover, and the words name the block."""

from __future__ import annotations

import itertools
from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.audit.boxes import FEW, MOST_TOLD, check_boxes
from verifier.audit.check import Settings
from verifier.audit.proofs import Proofs
from verifier.diagnostics.report import Obligations, Subject
from verifier.formats import BoxSubject
from verifier.model.box_map import BoxMap

SETTINGS = Settings()

Box = tuple[tuple[int, ...], tuple[int, ...]]


def boxes_of(shape: tuple[int, ...], *boxes: Box, name: str = "w") -> BoxMap:
    offsets, sizes = array("q"), array("q")
    for offset, size in boxes:
        offsets.extend(offset)
        sizes.extend(size)
    return BoxMap(name=name, logical_shape=shape, offsets=offsets, sizes=sizes, count=len(boxes))


def judged(boxes: BoxMap, **more: object) -> Subject:
    return check_boxes(BoxSubject(boxes=boxes, **more), SETTINGS, SETTINGS.answering())  # type: ignore[arg-type]


def codes(subject: Subject) -> list[str]:
    return [finding.code for finding in subject.findings]


@st.composite
def box_sets(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Box]]:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    cuts = [sorted({0, n, *draw(st.lists(st.integers(0, n), max_size=2))}) for n in shape]
    axes = [[(low, high - low) for low, high in itertools.pairwise(cut)] or [(0, 0)] for cut in cuts]
    boxes = [(tuple(o for o, _ in cell), tuple(s for _, s in cell)) for cell in itertools.product(*axes)]
    if boxes and draw(st.booleans()):
        position = draw(st.integers(0, len(boxes) - 1))
        offset, size = boxes[position]
        if shape:
            axis = draw(st.integers(0, len(shape) - 1))
            moved = list(offset)
            moved[axis] += draw(st.integers(-2, 2))
            boxes[position] = (tuple(moved), size)
    return shape, boxes


def tiles(shape: tuple[int, ...], boxes: list[Box]) -> bool:
    """Each cell once and every box inside, by listing them."""
    for offset, size in boxes:
        if any(o < 0 or o + s > n for o, s, n in zip(offset, size, shape, strict=True)):
            return False
    cells = [
        cell
        for offset, size in boxes
        for cell in itertools.product(*[range(o, o + s) for o, s in zip(offset, size, strict=True)])
    ]
    return sorted(cells) == list(itertools.product(*map(range, shape)))


@given(box_sets())
def test_the_verdict_is_that_of_the_cells(drawn: tuple[tuple[int, ...], list[Box]]) -> None:
    shape, boxes = drawn
    subject = judged(boxes_of(shape, *boxes))
    assert subject.verdict == ("proved" if tiles(shape, boxes) else "refuted")
    assert bool(subject.findings) == (subject.verdict == "refuted")


def test_a_box_that_wraps_has_flat_addresses_inside_and_is_refuted_all_the_same() -> None:
    right = boxes_of((8, 6), ((0, 0), (2, 6)), ((2, 0), (6, 6)))
    wrapped = boxes_of((8, 6), ((0, 0), (2, 6)), ((0, 12), (6, 6)))
    assert judged(right).verdict == "proved"
    subject = judged(wrapped)
    assert (subject.verdict, codes(subject)) == ("refuted", ["CK108"])
    assert "reaches 12 to 18 in dimension 1, the tensor ends at 6" in subject.findings[0].concise


def test_every_box_that_leaves_is_counted() -> None:
    subject = judged(boxes_of((4,), ((-1,), (2,)), ((1,), (2,)), ((3,), (2,))))
    assert "(the first of 2 places)" in subject.findings[0].concise


def test_an_empty_box_may_end_where_the_tensor_ends_and_nowhere_beyond() -> None:
    assert judged(boxes_of((4,), ((0,), (4,)), ((4,), (0,)))).verdict == "proved"
    assert codes(judged(boxes_of((4,), ((0,), (4,)), ((5,), (0,))))) == ["CK108"]


def test_an_expected_shape_is_demanded() -> None:
    boxes = boxes_of((6, 6), ((0, 0), (6, 6)))
    assert judged(boxes, expected_shape=(6, 6)).verdict == "proved"
    subject = judged(boxes, expected_shape=(8, 6))
    assert (subject.verdict, codes(subject)) == ("refuted", ["SM507"])


@pytest.mark.parametrize("rows", [FEW + 10, MOST_TOLD + 10])
@pytest.mark.parametrize("wrong", [None, "hole", "overlap", "outside"])
def test_many_boxes_get_the_verdict_of_few(wrong: str | None, rows: int) -> None:
    boxes = [((row, 0), (1, 4)) for row in range(rows)]
    match wrong:
        case "hole":
            boxes[33] = ((33, 0), (1, 3))
        case "overlap":
            boxes[33] = ((32, 0), (2, 4))
        case "outside":
            boxes[33] = ((33, 1), (1, 4))
    subject = judged(boxes_of((rows, 4), *boxes))
    expected = {None: [], "hole": ["SM301"], "overlap": ["SM403"], "outside": ["CK108"]}[wrong]
    assert codes(subject) == expected
    assert subject.verdict == ("refuted" if wrong else "proved")
    assert sum(subject.families.values(), Obligations()) == subject.obligations


def test_equal_boxes_are_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = boxes_of((FEW + 1,), *[((row,), (1,)) for row in range(FEW + 1)])
    proofs = Proofs()
    first = check_boxes(BoxSubject(boxes=boxes), SETTINGS, SETTINGS.answering(), proofs=proofs)

    def fail(*arguments: object) -> None:
        raise AssertionError("decided again")

    monkeypatch.setattr("verifier.audit.many_boxes.decide_boxes", fail)
    again = check_boxes(
        BoxSubject(boxes=replace(boxes, name="v")), SETTINGS, SETTINGS.answering(), proofs=proofs
    )
    assert again == replace(first, name="v")
