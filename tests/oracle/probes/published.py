"""What others measured on torch 2.13 (CPU): outcome by corruption and optimizer, and how often each occurs.

A dot: there was nothing to corrupt. A question mark: their own harness failed.
"""

from __future__ import annotations

from pathlib import Path

COLUMNS = {
    "SGDm": "SGD",
    "SGDm-fu": "SGD (fused)",
    "Adam": "Adam",
    "Adam-fu": "Adam (fused)",
    "AdamW": "AdamW",
    "NAdam": "NAdam",
    "RAdam": "RAdam",
    "Adagrd": "Adagrad",
    "RMSpr": "RMSprop",
    "Rprop": "Rprop",
    "ASGD": "ASGD",
    "Adafac": "Adafactor",
    "Muon": "Muon",
    "SpAdam": "SparseAdam",
    "LBFGS": "LBFGS",
}
"""The columns of the table, and what we call them."""

_TABLE, _COUNTED = Path(__file__).with_suffix(".txt").read_text(encoding="ascii").split("\n\n")


def table() -> dict[str, dict[str, str]]:
    """Outcome by corruption and optimizer."""
    head, *rows = _TABLE.splitlines()
    columns = [COLUMNS[word] for word in head.partition(" | ")[2].split()]
    found = {}
    for row in rows:
        name, _, words = row.partition(" | ")
        found[name.strip()] = dict(zip(columns, words.split(), strict=True))
    return found


def counted() -> dict[str, dict[str, int]]:
    """How often each outcome occurs, by optimizer; "cases" is all of them."""
    head, *rows = _COUNTED.splitlines()
    words = head.partition(" | ")[2].split()
    return {
        name.strip(): dict(zip(words, map(int, numbers.split()), strict=True))
        for name, _, numbers in (row.partition(" | ") for row in rows)
    }
