"""What a browser makes of a page: its elements, checked for everything a page of ours must not have."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser

VOID = {"meta", "rect", "br"}
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "header", "section", "article", "script"),
    *(
        "h1",
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "a",
        "span",
        "pre",
        "div",
        "svg",
        "rect",
        "br",
        "figure",
        "figcaption",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "id", "scope", "colspan", "href", "role"),
    *("aria-label", "aria-live", "tabindex", "data-c", "data-e", "viewbox", "preserveaspectratio"),
    *("x", "y", "width", "height"),
}
"""Among them is none that loads, runs or styles anything."""


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parts: list[str | Element] = field(default_factory=list)

    @property
    def children(self) -> list[Element]:
        return [part for part in self.parts if isinstance(part, Element)]

    @property
    def text(self) -> str:
        return "".join(part.text if isinstance(part, Element) else part for part in self.parts)

    def all(self, tag: str, name: str = "") -> list[Element]:
        """Every element below with that tag and class, in document order."""
        found: list[Element] = []
        for child in self.children:
            if child.tag == tag and (not name or name in child.classes):
                found.append(child)
            found += child.all(tag, name)
        return found

    def one(self, tag: str, name: str = "") -> Element:
        (found,) = self.all(tag, name)
        return found

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


class _Reader(HTMLParser):
    """Refuses what is not strictly nested, known and local."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        found = {name: value or "" for name, value in attrs}
        assert len(found) == len(attrs)
        assert found.keys() <= ATTRIBUTES, found
        assert found.get("href", "#").startswith("#")
        element = Element(tag, found)
        self._open[-1].parts.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def read_page(text: str) -> Element:
    """The page as a tree; fails where anything in it is foreign, or loads or runs what is not its own."""
    assert text.startswith("<!doctype html>\n")
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader._open) == 1
    page = reader.root
    policy = page.all("meta")[1].attributes
    assert policy["http-equiv"] == "Content-Security-Policy"
    digests = {tag: _digest(page.one(tag).text) for tag in ("style", "script")}
    assert policy["content"] == (
        f"default-src 'none'; style-src '{digests['style']}'; script-src '{digests['script']}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"url\(|@import|expression\(", page.one("style").text)
    assert not re.search(r"fetch|XMLHttp|import\(|eval|innerHTML|document\.write", page.one("script").text)
    identifiers = [e.attributes["id"] for e in _everything(page) if "id" in e.attributes]
    assert len(identifiers) == len(set(identifiers))
    assert {a.attributes["href"][1:] for a in page.all("a")} <= {*identifiers}
    return page


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _everything(element: Element) -> list[Element]:
    return [element, *[found for child in element.children for found in _everything(child)]]
