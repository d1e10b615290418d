"""The checker of boxes accepts what tiles, says no to all else, and needs nothing of ours."""

import copy
import json
import random
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from tests.engines.bulk.generated import Made, box_map, made, truth
from verifier.certificates import check_boxes
from verifier.certificates.check_boxes import Rejected, TooLarge, check, check_text, check_tiled
from verifier.certificates.encode_boxes import BoxCertificate

QUARTERS = Made((4, 6), (((0, 0), (2, 6)), ((2, 0), (2, 2)), ((2, 2), (2, 4)), ((4, 0), (0, 6))))


def document(boxes: Made) -> dict:
    return BoxCertificate(boxes.columns()).to_json()


def accepts(value: object) -> bool:
    try:
        check_text(json.dumps(value))
    except Rejected:
        return False
    return True


def boxes_of(value: dict) -> Made:
    shape, count = tuple(value["shape"]), value["count"]
    rows = [
        tuple(tuple(value[column][k * len(shape) : (k + 1) * len(shape)]) for column in ("offsets", "sizes"))
        for k in range(count)
    ]
    return Made(shape, tuple(rows))


def test_random_boxes_are_accepted_iff_they_tile():
    rng = random.Random("accepted")
    accepted = 0
    for _ in range(1500):
        boxes = made(rng)
        assert accepts(document(boxes)) == truth(boxes).tiled, boxes
        accepted += truth(boxes).tiled
    assert 400 < accepted < 1100


def test_every_number_changed_is_accepted_iff_it_is_still_true():
    whole = document(QUARTERS)
    assert accepts(whole)
    refused = 0
    for column in ("shape", "offsets", "sizes"):
        for place, old in enumerate(whole[column]):
            for new in (old - 1, old + 1, 0, -old, 2**31, 2**63, 10**30):
                changed = copy.deepcopy(whole)
                changed[column][place] = new
                small = max(changed["shape"] + changed["offsets"] + changed["sizes"]) < 50
                right = small and min(changed["shape"] + changed["sizes"]) >= 0
                right = right and truth(boxes_of(changed)).tiled
                assert accepts(changed) == right, (column, place, new)
                refused += not right
    assert refused > 90


@pytest.mark.parametrize("new", [True, 1.0, "1", None, [1], {}, float("nan"), -1], ids=repr)
@pytest.mark.parametrize("column", ["shape", "offsets", "sizes"])
def test_no_number_may_be_anything_but_an_integer_from_0_on(column, new):
    changed = document(QUARTERS)
    changed[column][1] = new
    assert not accepts(changed)


@pytest.mark.parametrize("new", [None, True, 4.0, "4", -4, 3, 5, [], 10**12], ids=repr)
def test_the_count_is_that_of_the_columns(new):
    changed = document(QUARTERS)
    changed["count"] = new
    assert not accepts(changed)


@pytest.mark.parametrize("column", ["shape", "offsets", "sizes"])
def test_columns_are_as_long_as_they_say(column):
    for change in (lambda c: c + [0], lambda c: c[:-1], lambda c: [], lambda c: {}, lambda c: None):
        changed = document(QUARTERS)
        changed[column] = change(changed[column])
        assert not accepts(changed)


def test_every_member_is_needed_and_none_may_be_added():
    whole = document(QUARTERS)
    for member in whole:
        assert not accepts({key: value for key, value in whole.items() if key != member})
    assert not accepts({**whole, "evidence": {}})
    assert not accepts({**whole, "schema": "shardproof.boxes/2"})
    assert not accepts({**whole, "name": 7})
    for value in (None, [], 7, "x", [whole]):
        assert not accepts(value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"schema": 1, "schema": 1}', "NaN", '{"count": 1' + "0" * 5000 + "}"],
    ids=lambda text: text[:12],
)
def test_text_that_is_no_certificate(text):
    with pytest.raises(Rejected, match="malformed"):
        check_text(text)


def test_a_member_twice_is_refused():
    text = BoxCertificate(QUARTERS.columns()).to_text()
    check_text(text)
    with pytest.raises(Rejected, match="twice"):
        check_text(text[:-1] + ',"count":4}')


def test_the_message_names_what_is_wrong():
    outside = document(Made((4,), (((0,), (3,)), ((3,), (2,)))))
    with pytest.raises(Rejected, match=r"box 1 is 3\+2 of 4 in dimension 0"):
        check(outside)
    hole = document(Made((4, 6), QUARTERS.boxes[1:]))
    with pytest.raises(Rejected, match=r"element \[0, 0\] of the dimensions that are cut"):
        check(hole)


def test_more_corners_than_are_counted_are_too_large(monkeypatch):
    check(document(QUARTERS))
    monkeypatch.setattr(check_boxes, "MOST_CORNERS", 11)
    with pytest.raises(TooLarge, match="3 boxes cut along 2 dimensions"):
        check(document(QUARTERS))


def test_many_scalars_take_no_memory():
    with pytest.raises(TooLarge):
        check_tiled((), 2**40, array("q"), array("q"))


def test_too_many_dimensions_are_refused():
    with pytest.raises(Rejected, match="malformed: shape"):
        check_tiled((1,) * 65, 0, array("q"), array("q"))


@pytest.mark.parametrize(("text", "code"), [(BoxCertificate(QUARTERS.columns()).to_text(), 0), ("{}", 1)])
def test_it_runs_alone(tmp_path, text, code):
    certificate = tmp_path / "boxes.json"
    certificate.write_text(text)
    source = Path(check_boxes.__file__).read_text()
    (tmp_path / "alone.py").write_text(source)
    run = subprocess.run(
        [sys.executable, "-I", "alone.py", "boxes.json"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == code
    assert ("accepted" in run.stdout) == (code == 0)
    lines = [line for line in source.splitlines() if line.strip()]
    assert len(lines) < 150
    assert not any(line.startswith(("import verifier", "from verifier")) for line in lines)


def test_a_name_is_kept_and_means_nothing():
    certificate = BoxCertificate(box_map((2,), [((0,), (2,))], name="w\u2028"))
    assert certificate.to_json()["name"] == "w\u2028"
    check_text(certificate.to_text())
