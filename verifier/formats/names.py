"""Parameter names and the regular expressions that stand for them in DeepSpeed files.

DeepSpeed keys its maps by ``^`` + re.escape(name) + ``$`` and looks them up with re.match. Not every pattern
from a file is run: a hostile one can take exponential time.
"""

from __future__ import annotations

import re

_BACKSLASHED = re.compile(r"\\(.)", re.DOTALL)

# Literals, escaped punctuation, dots; with at most two repeats, never nested, matching is quadratic at worst.
_TAME = re.compile(
    r"\^?(?:[\w/\-:]|\\[^\w\s]|\\d|\.)(?:[\w/\-:]|\\[^\w\s]|\\d|\.|[*+](?![*+?]))*\$?", re.ASCII
)
_MOST_REPEATS = 2


def parameter_name(key: str) -> tuple[str, bool]:
    """The name a key stands for, and whether it is exact: True for ``^escaped$`` and for plain words.

    A pattern that can match several names is its own name.
    """
    if key.startswith("^") and key.endswith("$"):
        name = _BACKSLASHED.sub(r"\1", key[1:-1])
        if key == pattern_of(name):
            return name, True
        return key, False
    return key, re.fullmatch(r"[\w./\-:]+", key) is not None


def pattern_of(name: str) -> str:
    """The key under which DeepSpeed stores a name."""
    return f"^{re.escape(name)}$"


def matches(pattern: str, name: str) -> bool | None:
    """Whether a pattern matches a name as DeepSpeed matches it; None for a pattern too wild to be run."""
    exact, is_exact = parameter_name(pattern)
    if is_exact and pattern.startswith("^"):
        return exact == name
    if _TAME.fullmatch(pattern) is None or len(re.findall(r"(?<!\\)[*+]", pattern)) > _MOST_REPEATS:
        return None
    return re.match(pattern, name) is not None
