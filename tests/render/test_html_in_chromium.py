"""The page in a real browser: what is pointed at lights up in both pictures, and nothing else is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.render import examples
from tests.render.chromium import MISSING, Page, browser, chromium
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import Report
from verifier.render.html import render_html

PROGRAM = chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)

PAIR = "document.querySelector('.pair')"
CELL = (
    PAIR + ".querySelectorAll('figure')[{figure}]"
    ".querySelectorAll('tbody tr')[{row}].querySelectorAll('td')[{column}]"
)
LIT = (
    f"[...{PAIR}.querySelectorAll('figure')]"
    ".map(figure => [...figure.querySelectorAll('.lit')].map(cell => cell.dataset.e ?? ''))"
)
READOUT = "document.querySelector('.readout').textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    assert PROGRAM is not None
    with browser(PROGRAM, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def written(report: Report, folder: Path) -> Path:
    file = folder / "a report.html"
    file.write_text(render_html(report), encoding="ascii")
    return file


@pytest.fixture
def flagship(page: Page, tmp_path: Path) -> Page:
    """The page of the flagship, scrolled to its pictures, the mouse in a corner."""
    page.events.clear()
    page.open(
        written(
            examples.report_of(examples.qkv_finding(), narrate(examples.experts(), examples.EXPERT_HOLE)),
            tmp_path,
        )
    )
    page.value("document.querySelector('.pair').scrollIntoView({block: 'center'})")
    page.point_at(1, 1)
    return page


def hover(page: Page, figure: int, row: int, column: int) -> None:
    cell = CELL.format(figure=figure, row=row, column=column)
    x, y = page.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({cell}.getBoundingClientRect())")
    page.point_at(x, y)


def test_pointing_at_a_cell_lights_up_its_elements_in_both_pictures(flagship: Page, tmp_path: Path) -> None:
    page = flagship
    still, before = page.value(READOUT), page.screenshot()
    assert page.value(LIT) == [[], []]
    hover(page, 0, 2, 1)
    assert page.value(LIT) == [["[2, 1]|[2, 4]"], ["[2, 1]", "[2, 4]"]]
    assert page.value(READOUT) == "rank 0 shard r2 c1 (X): [2, 1] and [2, 4] of the parameter"
    after = page.screenshot()
    (tmp_path / "hovered.png").write_bytes(after)
    assert {before[:4], after[:4]} == {b"\x89PNG"}
    assert before != after
    hover(page, 1, 3, 5)
    assert page.value(LIT) == [["[3, 5]"], ["[3, 5]"]]
    hover(page, 1, 3, 2)
    assert page.value(LIT) == [[], ["[3, 2]"]], "an element of rank 1 is not in the shard of rank 0"
    page.point_at(1, 1)
    assert (page.value(LIT), page.value(READOUT)) == ([[], []], still)


def test_the_keyboard_walks_through_a_picture(flagship: Page) -> None:
    page = flagship
    page.value("document.querySelector('.pair td[tabindex=\"0\"]').focus()")
    assert page.value(LIT) == [["[0, 1]|[0, 4]"], ["[0, 1]", "[0, 4]"]]
    page.press("ArrowDown")
    assert page.value(LIT) == [["[1, 1]|[1, 4]"], ["[1, 1]", "[1, 4]"]]
    page.press("ArrowRight")
    assert page.value(LIT) == [["[1, 5]"], ["[1, 5]"]]
    assert page.value("document.activeElement.tabIndex") == 0
    page.press("End")
    page.press("ArrowRight")
    assert page.value("document.activeElement.textContent") == "."
    assert page.value(READOUT) == "rank 0 shard r1 c3 (.): no element of the parameter"
    stops = "document.querySelector('figure').querySelectorAll('td[tabindex=\"0\"]').length"
    assert page.value(stops) == 1


def test_nothing_is_asked_of_the_network_and_nothing_is_refused(flagship: Page) -> None:
    hover(flagship, 0, 0, 0)
    asked = [
        e["params"]["request"]["url"] for e in flagship.events if e["method"] == "Network.requestWillBeSent"
    ]
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert all(url.endswith(".html") for url in asked)
    assert [e for e in flagship.events if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")] == []


def test_the_policy_stops_whatever_is_not_of_the_page(flagship: Page) -> None:
    flagship.value(
        "(s => { s.textContent = 'window.ran = true'; document.body.append(s) })"
        "(document.createElement('script'))"
    )
    flagship.value("(i => { i.src = 'https://example.org/a.png'; document.body.append(i) })(new Image())")
    assert flagship.value("window.ran") is None
    refused = [e["params"]["entry"]["text"] for e in flagship.events if e["method"] == "Log.entryAdded"]
    assert any("script" in text and "Content Security Policy" in text for text in refused)
    assert any("image" in text and "Content Security Policy" in text for text in refused)


def test_without_scripts_the_page_still_shows_everything(flagship: Page, tmp_path: Path) -> None:
    page = flagship
    page.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(written(examples.report_of(examples.qkv_finding()), tmp_path))
        hover(page, 0, 2, 1)
        assert page.value("document.querySelectorAll('.lit').length") == 0
        same = "[...document.querySelectorAll('.same')].map(cell => cell.dataset.e)"
        assert page.value(same) == ["[0, 1]", "[0, 4]"]
        assert "both write here" in page.value("document.body.innerText")
        assert "SM201" in page.value("document.querySelector('pre').innerText")
    finally:
        page.ask("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_stands_out_from_paper_in_both_schemes(flagship: Page, scheme: str) -> None:
    flagship.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    colors = flagship.value(
        "['backgroundColor', 'color'].map(name => getComputedStyle(document.documentElement)[name]"
        ".match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 765)"
    )
    paper, ink = colors
    assert abs(paper - ink) > 0.6
    assert (paper > ink) == (scheme == "light")
    flagship.ask("Emulation.setEmulatedMedia", features=[])


def test_it_prints(flagship: Page) -> None:
    found = flagship.ask("Page.printToPDF")
    assert found["data"].startswith("JVBER")  # %PDF
