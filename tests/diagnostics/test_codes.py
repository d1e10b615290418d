"""The table of codes and the pages that explain them."""

import re
from itertools import groupby

import pytest

from verifier.diagnostics.codes import CODES, Code, UnknownCodeError, code_of, find_code
from verifier.diagnostics.pages import example_in, page_of

EXPLAINED = {
    *[f"SM00{n}" for n in range(1, 8)],
    *[f"SM10{n}" for n in range(1, 10)],
    *[f"SM20{n}" for n in range(1, 5)],
    *[f"SM30{n}" for n in range(1, 4)],
    *[f"SM40{n}" for n in range(1, 5)],
    *[f"SM50{n}" for n in range(1, 9)],
    *[f"SM60{n}" for n in range(1, 7)],
    *[f"SM70{n}" for n in range(1, 5)],
    *[f"SM90{n}" for n in range(1, 4)],
    "CK101",
    *[f"CK11{n}" for n in range(4, 9)],
    *[f"CK1{n:02d}" for n in range(2, 14)],
    *[f"CK20{n}" for n in range(1, 7)],
    *[f"HK10{n}" for n in range(1, 4)],
    *[f"TB10{n}" for n in range(1, 4)],
    *[code.code for code in CODES if code.code.startswith("OC")],
}
SECTIONS = ["What it means", "Why it matters", "Example", "How to fix it", "Related"]
PAGES = [(code, page) for code in CODES if (page := page_of(code)) is not None]


def by_code(value: object) -> str:
    return value.code if isinstance(value, Code) else ""


def test_codes_and_names_are_unique_and_well_formed() -> None:
    assert len({code.code for code in CODES}) == len({code.name for code in CODES}) == len(CODES)
    for code in CODES:
        assert re.fullmatch("(SM|CK|HK|TB|OC)[0-9]{3}", code.code)
        assert re.fullmatch("[a-z]+(-[a-z]+)*", code.name)
        assert not code.summary.endswith(".")
        assert len(code.summary) <= 80


def test_a_family_is_one_run_of_rising_numbers() -> None:
    families = [
        (family, [code.code for code in codes]) for family, codes in groupby(CODES, lambda c: c.family)
    ]
    assert len({family for family, _ in families}) == len(families)
    for _, codes in families:
        assert codes == sorted(codes)
        assert len({code[:3] for code in codes}) == 1


def test_only_lints_housekeeping_and_what_constructors_say_are_warnings() -> None:
    warnings = {code.family for code in CODES if code.severity == "warning"}
    errors = {code.family for code in CODES if code.severity == "error"}
    assert warnings == {
        "canonical form",
        "constructor refusals",
        "checkpoint remarks",
        "contract remark",
        "housekeeping",
    }
    assert not warnings & errors


def test_lookup_by_code_and_by_name() -> None:
    for code in CODES:
        for word in (code.code, code.code.lower(), code.name, f" {code.name.upper()} "):
            assert find_code(word) is code
    assert find_code("SM999") is None
    with pytest.raises(UnknownCodeError, match="SM999"):
        code_of("SM999")


def test_every_code_that_can_be_emitted_has_a_page() -> None:
    assert {code.code for code, _ in PAGES} == EXPLAINED


@pytest.mark.parametrize(("code", "page"), PAGES, ids=by_code)
def test_a_page_says_what_the_table_says(code: Code, page: str) -> None:
    assert page.startswith(f"# {code.code} {code.name}\n\n{code.summary[0].upper()}{code.summary[1:]}.\n")
    assert re.findall("(?m)^## (.*)$", page) == SECTIONS
    theory = page.rpartition("\nTheory")[2]
    assert tuple(sorted(set(re.findall(r"\bT\d+\b", theory)))) == tuple(sorted(code.theory))


@pytest.mark.parametrize(("code", "page"), PAGES, ids=by_code)
def test_a_page_names_codes_that_exist_and_has_an_example_or_says_why_not(code: Code, page: str) -> None:
    for word in re.findall(r"\b(?:SM|CK|HK|TB|OC)[0-9]{3}\b", page):
        assert find_code(word) is not None
    assert (example_in(page) is None) == ("This code cannot be shown by " in page)
    assert all(len(line) <= 120 or line.lstrip().startswith(("{", '"')) for line in page.splitlines())
