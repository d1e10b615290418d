"""Scripts put to solvers: what is confirmed, by whom, and what is left."""

from __future__ import annotations

import sys

import pytest

from tests.symbolic.judging import proved
from tests.symbolic.test_layouts import DOMAINS
from verifier.certificates.check_sizes import check_text
from verifier.symbolic.discharge import discharge, installed_solvers
from verifier.symbolic.encode_sizes import certificate_text

HEAD = "(set-logic QF_LIA)\n(declare-const u0 Int)\n"
TRUE = f"{HEAD}(assert (>= (+ 0 0 (* 2 u0)) 1))\n(assert (>= 1 (+ 0 0 (* 2 u0))))\n(check-sat)\n"
FALSE = f"{HEAD}(assert (>= u0 1))\n(check-sat)\n"
BROKEN = "(assert"


def strided() -> dict[str, str]:
    """The scripts of a layout that has some."""
    (choice,) = proved(*DOMAINS["dtensor"]).certificate.choices
    return check_text(certificate_text("w", choice))[1]


def test_every_installed_solver_is_asked_and_only_unsat_confirms() -> None:
    found = discharge({TRUE: "one", FALSE: "two", BROKEN: "three"})
    assert found.left == ("two", "three")
    assert [*found.confirmed.values()] == [1] * len(list(installed_solvers()))
    assert next(iter(found.confirmed)).startswith("z3 ")


def test_without_scripts_nobody_is_asked() -> None:
    assert not discharge({}).confirmed
    assert not discharge({}).left


def test_without_a_solver_everything_is_left() -> None:
    found = discharge({TRUE: "one"}, by={})
    assert (found.confirmed, found.left) == ({}, ("one",))


def test_one_that_confirms_is_enough() -> None:
    found = discharge({TRUE: "one", FALSE: "two"}, by={"no": lambda _: False, "z": lambda text: text == TRUE})
    assert (found.confirmed, found.left) == ({"no": 0, "z": 1}, ("two",))


def test_a_missing_solver_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    assert [name.split()[0] for name, _ in installed_solvers()] == ["z3"]


def test_z3_confirms_what_the_checker_leaves_open() -> None:
    scripts = strided()
    assert scripts
    assert not discharge(scripts).left


def test_cvc5_confirms_it_too() -> None:
    pytest.importorskip("cvc5", reason="cvc5 is not installed")
    scripts = {**strided(), FALSE: "false", BROKEN: "broken"}
    found = discharge(scripts, by=dict([one for one in installed_solvers() if one[0].startswith("cvc5")]))
    assert found.left == ("false", "broken")
