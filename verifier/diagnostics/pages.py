"""The explain pages: one Markdown page per code that some command can emit."""

from __future__ import annotations

import re

from verifier.diagnostics.codes import Code

_FIX = re.compile(r"^## How to fix it\n\n(.*?)\n\n", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_of(code: Code) -> str | None:
    """The page of a code as Markdown, None where nothing emits it yet."""
    from importlib.resources import files  # slow to import, and most runs show no page

    page = files("verifier.diagnostics").joinpath("explain", f"{code.code}.md")
    return page.read_text(encoding="utf-8") if page.is_file() else None


def example_in(page: str) -> str | None:
    """The first ``json`` block of a page: a document that yields the code. None where no map can show it."""
    found = _EXAMPLE.search(page)
    return None if found is None else found[1]


def fix_of(code: Code) -> tuple[str, ...]:
    """What the page says to do, its first paragraph in one line; nothing where there is no page."""
    found = _FIX.search(page_of(code) or "")
    return () if found is None else (" ".join(found[1].split()),)
