"""What the gate says of one constructor."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.gate.judged import gated, only
from verifier import Expectation, Sizes, size
from verifier.audit.check import Settings
from verifier.diagnostics.report import Report
from verifier.gate.declared import Declaration
from verifier.gate.gating import GateError, gate
from verifier.gate.loading import load
from verifier.symbolic.search import Limits

ROWS = Sizes(rows=size())


@pytest.mark.parametrize(
    "name", ["as_dict", "converted", "as_map", "as_affine", "padded", "halves", "chatty"]
)
def test_every_form_is_proved(scratch: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = gated(f"forms.py:{name}", ROWS)
    assert found.subject.verdict == "proved"
    assert found.subject.kind == "constructor"
    assert found.subject.obligations.proved == sum(found.subject.answered_by.values()) > 0
    assert found.test is None
    assert capsys.readouterr().out == ""


def test_padding_counts_for_small_sizes_too(scratch: Path) -> None:
    """One way at most makes the gate list small sizes, whose padding is then declared cell by cell."""
    found = gate(load("forms.py:padded"), Declaration(ROWS), Settings(), limits=Limits(ways=1, judged=20))
    assert found.subject.verdict == "undecided"
    assert only(found).code == "SM602"


def test_a_wrong_map_is_shown_at_the_smallest_sizes(scratch: Path) -> None:
    found = gated("plans.py:cut_columns", Sizes(rows=size(), columns=size(), ranks=[1, 2, 3]))
    finding = only(found)
    assert (finding.code, finding.verdict) == ("SM601", "refuted")
    assert finding.headline == "cut_columns makes a wrong map at rows=2, columns=7, ranks=3"
    assert finding.consequences[0] == "SM101"
    assert finding.claim.startswith("error[SM101] write-out-of-bounds: ")
    assert finding.picture is not None
    assert finding.place is not None
    assert (finding.place.file, finding.place.line) == ("plans.py", 4)
    assert "no sizes with a smaller sum fail at ranks=3" in finding.notes[0]
    assert Report(tool={}, subjects=(found.subject,)).exit_code == 1


def test_another_function_than_the_reference(scratch: Path) -> None:
    reference = load("forms.py:halves")
    assert gated("forms.py:halves", ROWS, reference).subject.verdict == "proved"
    finding = only(gated("forms.py:exchanged", ROWS, reference))
    assert finding.headline == "exchanged makes a wrong map at rows=1"
    assert finding.consequences[0] in ("SM501", "SM502")
    assert gated("forms.py:exchanged", ROWS).subject.verdict == "proved"


def test_what_leaves_the_fragment_is_proved_on_a_stated_part(scratch: Path) -> None:
    found = gated("forms.py:row_by_row", ROWS)
    finding = only(found)
    assert (finding.code, finding.verdict) == ("SM602", "undecided")
    assert "sizes that add up to at most 64" in finding.notes[0]
    assert "end of a range" in finding.notes[1]
    assert Report(tool={}, subjects=(found.subject,)).exit_code == 3
    chosen = gated("forms.py:row_by_row", Sizes(rows=[8, 64]))
    assert chosen.subject.verdict == "proved"


PLACED = """
from functools import cache, partial, wraps
from forms import entry, row_by_row

def fixed(rows, ranks): return row_by_row(rows)
def decorated(function):
    @wraps(function)
    def call(**arguments): return function(**arguments)
    return call

class Callable_:
    def __call__(self, rows): return row_by_row(rows)

a_partial = partial(fixed, ranks=2)
a_lambda = lambda rows: row_by_row(rows)
an_object = Callable_()
a_cached = cache(fixed)
@decorated
def wrapped(rows): return row_by_row(rows)
exec("def dynamic(rows): return row_by_row(rows)")
"""


@pytest.mark.parametrize(
    ("where", "over", "place"),
    [
        ("placed.py:a_partial", ROWS, ("placed.py", 5)),
        ("placed.py:a_lambda", ROWS, ("placed.py", 15)),
        ("placed.py:an_object", ROWS, ("placed.py", 11)),
        ("placed.py:wrapped", ROWS, ("placed.py", 19)),
        ("placed.py:row_by_row", ROWS, ("forms.py", 53)),
        ("placed.py:dynamic", ROWS, ("placed.py", None)),
        ("forms.py:never", ROWS, ("forms.py", 58)),
        ("forms.py:moody", ROWS, ("forms.py", 86)),
    ],
)
def test_what_is_open_stands_at_the_definition(
    scratch: Path, where: str, over: Sizes, place: tuple[str, int | None]
) -> None:
    (scratch / "placed.py").write_text(PLACED)
    found = gated(where, over)
    assert found.subject.verdict == "undecided"
    for one in (only(found).place, found.subject.place):
        assert one is not None
        assert (one.file, one.line) == place


def test_a_size_may_be_asked_for_its_type(scratch: Path) -> None:
    head = "import builtins\nfrom forms import entry\n\ndef strict(rows):\n"
    tests = {
        "type(rows) is not int": "proved",
        "type(rows) != int": "proved",
        "type(rows) not in (int, bool)": "proved",
        "type(rows).__name__ != 'int'": "proved",
        "type(3) is not int or type(rows) is not type(3)": "proved",
        "not isinstance(rows, int)": "proved",
        "not isinstance(rows, (int, str)) or isinstance(rows, bool)": "proved",
        "type('rows') is int or not isinstance(type('rows'), type)": "proved",
        "(lambda kind: kind(rows))(type) is not int": "type as a value in strict",
        "builtins.type(rows) is not int": "builtins as a value in strict",
        "rows is 3": "a comparison by identity in strict",
        "int.__eq__(rows, 3) is True": "__eq__ in strict",
        "id(rows) == 5": "id, which may look at how a value is stored, in strict",
    }
    for number, (test, expected) in enumerate(tests.items()):
        (scratch / f"strict_{number}.py").write_text(
            f"{head}    if {test}: raise TypeError('rows')\n    return entry(rows)\n"
        )
        with warnings.catch_warnings(action="ignore"):  # of the literal beside is
            found = gated(f"strict_{number}.py:strict", ROWS)
        if expected == "proved":
            assert (test, found.subject.verdict) == (test, "proved")
            continue
        finding = only(found)
        assert finding.code == "SM602"
        assert finding.notes[0] == "proved: sizes that add up to at most 64"
        assert finding.notes[1].startswith(f"not on all of it: {expected}")


def test_a_constructor_that_always_raises_is_undecided(scratch: Path) -> None:
    found = gated("forms.py:never", ROWS)
    assert only(found).code == "SM901"
    assert "raises for all sizes" in only(found).notes[0]


def test_refusals_by_name_are_listed_with_their_condition(scratch: Path) -> None:
    found = gated("forms.py:at_most_ten", ROWS)
    assert found.subject.verdict == "proved"
    assert found.subject.contents["refusals"] == 1
    assert not found.subject.findings
    (line,) = found.refusals
    assert line.startswith("forms.py:at_most_ten raises where rows >= 11: ValueError: rows is 11; give 10")
    assert "; e.g. at rows=" in line


def test_accidents_are_warned_of(scratch: Path) -> None:
    found = gated("forms.py:careless", ROWS)
    assert found.subject.verdict == "proved"
    finding = only(found)
    assert (finding.code, finding.severity) == ("SM605", "warning")
    assert finding.headline == "careless raises KeyError: 'three' at rows=3, in its domain"


def test_to_raise_where_the_reference_makes_a_map_is_a_difference(scratch: Path) -> None:
    for name, first in (("careless", 3), ("at_most_ten", 11)):
        found = gated(f"forms.py:{name}", ROWS, load("forms.py:as_dict"))
        finding = only(found)
        assert finding.code == "SM601"
        assert finding.headline == f"{name} makes no map at rows={first}"
        assert "but its reference makes a map" in finding.about
        assert finding.witness["least"] is True
    assert gated("forms.py:careless", ROWS, load("forms.py:careless")).subject.verdict == "proved"


def test_a_reference_that_raises_where_the_constructor_does_not(scratch: Path) -> None:
    finding = only(gated("forms.py:as_dict", ROWS, load("forms.py:at_most_ten")))
    assert finding.headline == "as_dict has no reference at rows=11"
    assert finding.about.startswith("the reference raises ValueError: rows is 11")


@pytest.mark.parametrize(
    ("name", "headline"),
    [("nothing", "nothing makes no map at rows=0"), ("shorter", "shorter makes no map at rows=0")],
)
def test_what_is_no_map_is_refuted(scratch: Path, name: str, headline: str) -> None:
    finding = only(gated(f"forms.py:{name}", ROWS))
    assert finding.headline == headline
    assert finding.picture is None
    assert finding.about


def test_another_map_on_every_run_is_no_proof_and_no_refutation(scratch: Path) -> None:
    found = gated("forms.py:moody", ROWS)
    assert found.subject.verdict in ("undecided", "refuted")
    assert found.subject.verdict != "proved"


def test_waivers_reach_the_concrete_prover(scratch: Path) -> None:
    loaded = load("forms.py:gaps")
    assert gate(loaded, Declaration(ROWS), Settings()).subject.verdict == "refuted"
    waived = gate(loaded, Declaration(ROWS, None, Expectation(cover=False)), Settings())
    assert only(waived).code == "SM602"


@pytest.mark.parametrize(
    ("name", "over", "words"),
    [
        ("as_dict", Sizes(rows=size(), where=lambda rows: rows < 0), "admits no sizes at all.*repair where"),
        ("as_dict", Sizes(rows=size(), ranks=2), r"takes rows, but its domain names rows, ranks"),
        ("as_dict", Sizes(rows=size(), where=lambda rows: rows.absent), "where raises AttributeError"),
        ("leaves", ROWS, "calls sys.exit.0."),
        ("ends", ROWS, "forms.py:ends raises GeneratorExit, which is no Exception: over"),
    ],
)
def test_what_cannot_be_gated(scratch: Path, name: str, over: Sizes, words: str) -> None:
    with pytest.raises(GateError, match=words):
        gated(f"forms.py:{name}", over)


def test_a_reference_with_other_arguments(scratch: Path) -> None:
    with pytest.raises(GateError, match="the reference takes rows, columns, ranks, but its domain names"):
        gated("forms.py:as_dict", ROWS, load("right.py:cut_columns"))


def test_choices_without_sizes_are_not_checked(scratch: Path) -> None:
    over = Sizes(rows=size(), columns=size(), ranks=[1, 2], where=lambda ranks: ranks == 1)
    found = gated("right.py:cut_columns", over)
    assert found.unchecked == ("right.py:cut_columns at ranks=2 (the precondition admits no sizes)",)


def test_the_torch_oracle_is_asked_where_it_is_told_to(scratch: Path) -> None:
    declaration = Declaration(Sizes(rows=size(), columns=size(), ranks=[3]))
    found = gate(load("plans.py:cut_columns"), declaration, Settings(oracle="cpu"))
    assert any(note.startswith("replayed in torch") for note in only(found).notes)
    assert Report(tool={}, subjects=(found.subject,)).exit_code == 1
