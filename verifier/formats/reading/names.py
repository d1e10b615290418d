"""Parameter names and the regular expressions that stand for them in DeepSpeed files.

DeepSpeed keys its maps by ``^`` + re.escape(name) + ``$`` and looks them up with re.match. Not every pattern
from a file is run: a hostile one can take exponential time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_BACKSLASHED = re.compile(r"\\(.)", re.DOTALL)
_WORDS = re.compile(r"[\w./:\-]+", re.ASCII)

# Literals, escaped punctuation, dots; with at most two repeats, never nested, matching is quadratic at worst.
_TAME = re.compile(
    r"\^?(?:[\w/:\-]|\\[^\w\s]|\\d|\.)(?:[\w/:\-]|\\[^\w\s]|\\d|\.|[*+](?![*+?]))*\$?", re.ASCII
)
_REPEAT = re.compile(r"(?<!\\)[*+]")
_MOST_REPEATS = 2


def parameter_name(key: str) -> tuple[str, bool]:
    """The name a key stands for, and whether it is exact: True for ``^escaped$`` and for plain words.

    A pattern that can match several names is its own name.
    """
    if key.startswith("^") and key.endswith("$"):
        # Most names escape nothing but dots, and a checkpoint has tens of thousands of them.
        plain = key[1:-1].replace("\\.", ".")
        name = plain if "\\" not in plain else _BACKSLASHED.sub(r"\1", key[1:-1])
        return (name, True) if key == pattern_of(name) else (key, False)
    return key, _WORDS.fullmatch(key) is not None


def pattern_of(name: str) -> str:
    """The key under which DeepSpeed stores a name."""
    return f"^{re.escape(name)}$"


class PatternList:
    """Patterns to look names up in, in the order of the file.

    Attributes:
        wild: patterns that are not run, because matching them may not end; they match nothing here.
    """

    __slots__ = ("_exact", "_loose", "wild")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._exact: dict[str, str] = {}
        self._loose: list[str] = []
        self.wild: list[str] = []
        for pattern in patterns:
            name, exact = parameter_name(pattern)
            if exact and pattern.startswith("^"):
                self._exact.setdefault(name, pattern)
            elif _TAME.fullmatch(pattern) and len(_REPEAT.findall(pattern)) <= _MOST_REPEATS:
                self._loose.append(pattern)
            else:
                self.wild.append(pattern)

    def matching(self, name: str) -> list[str]:
        """The patterns that match a name from its start, as DeepSpeed matches them."""
        found = [self._exact[name]] if name in self._exact else []
        return found + [pattern for pattern in self._loose if re.match(pattern, name)]
