"""Carets stand below what they point at, however wide the characters before it are."""

import pytest

from tests.diagnostics.hostile import width
from verifier.diagnostics.finding import Label, Place
from verifier.render.lines import Page, paint, written_on
from verifier.render.snippet import snippet_lines


@pytest.mark.parametrize(
    "before", ["", "ab", "\u4e2d\u6587", "u\u0308", "\u4e2d" * 80, "a" + "\u4e2d" * 80], ids=len
)
@pytest.mark.parametrize("after", ["", "\u4e2d" * 80], ids=len)
@pytest.mark.parametrize("page", [Page(), Page(width=60), Page(encoding="ascii")], ids=str)
def test_carets_stand_below_their_stretch(before: str, after: str, page: Page) -> None:
    text = f"{before}[0, 1]{after}"
    end = len(before) + len("[0, 1]")
    place, start = Place("a.json", line=3), len(before)
    label = Label(place=place, snippet=text, quoted=True, start=start, end=end, text="here", primary=True)
    with written_on(page):
        _, quoted, marks, *_ = paint(snippet_lines((label,), 1, "error"), color=False).splitlines()
    assert width(quoted) <= page.width
    assert width(quoted[: quoted.index("[0, 1]")]) == marks.index("^")
    assert marks.count("^") == len("[0, 1]")
