"""Marks of a picture and the legend that explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verifier.diagnostics.wording import number, plural

NOBODY, SEVERAL, FREE, UNSURE, OTHERS = ".", "X", "_", "?", "#"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"

Touching = dict[int, int] | None
"""Who touches a cell, and how often (2 stands for more); None where that is too hard to say."""


@dataclass(frozen=True, slots=True)
class Words:
    """The legend's words: ``a piece writes here``, ``two ranks hold it``."""

    noun: str
    verb: str
    where: str


def marks(touching: Sequence[Sequence[Touching]], *, letters: bool) -> dict[int, str]:
    """A mark for every key that touches a cell alone: its own digit, or letters beyond 9."""
    keys = sorted({key for row in touching for cell in row if _alone(cell) for key in cell or ()})
    if not letters:
        return {key: str(key) for key in keys}
    return {key: _LETTERS[k] if k < len(_LETTERS) else OTHERS for k, key in enumerate(keys)}


def mark(cell: Touching, of: Mapping[int, str], *, free: bool) -> str:
    """The mark of one cell."""
    if cell is None:
        return UNSURE
    if not cell:
        return FREE if free else NOBODY
    return of[next(iter(cell))] if _alone(cell) else SEVERAL


def legend(
    touching: Sequence[Sequence[Touching]], of: Mapping[int, str], words: Words
) -> tuple[tuple[str, str], ...]:
    """(mark, meaning) of every mark there can be, in the order to print."""
    return (
        *_single(of, words),
        (SEVERAL, _several(touching, words)),
        (NOBODY, f"nobody {words.verb}s {words.where}"),
        (FREE, "declared free"),
        (UNSURE, "not determined"),
    )


def _alone(cell: Touching) -> bool:
    return cell is not None and sum(cell.values()) == 1


def _single(of: Mapping[int, str], words: Words) -> list[tuple[str, str]]:
    """Digits explain themselves; letters are explained by runs: ``a-c  pieces 12-14``."""
    if not of:
        return []
    if all(found.isdigit() for found in of.values()):
        return [(" ".join(of.values()), f"one {words.noun} {words.verb}s {words.where}")]
    entries: list[tuple[str, str]] = []
    for run in _runs([key for key, found in of.items() if found != OTHERS]):
        first, last = run[0], run[-1]
        if first == last:
            entries.append((of[first], f"{words.noun} {number(first)}"))
        else:
            entries.append(
                (f"{of[first]}-{of[last]}", f"{plural(words.noun)} {number(first)}-{number(last)}")
            )
    return [*entries, (OTHERS, f"another {words.noun}")]


def _runs(keys: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for key in keys:
        if runs and runs[-1][-1] == key - 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return runs


def _several(touching: Sequence[Sequence[Touching]], words: Words) -> str:
    crowded = [cell for row in touching for cell in row if cell and not _alone(cell)]
    if all(len(cell) == 1 for cell in crowded):
        return f"a {words.noun} {words.verb}s {words.where} twice"
    parties = {key for cell in crowded for key in cell}
    if len(parties) == 2 and all(sum(cell.values()) == 2 for cell in crowded):
        return f"both {words.verb} {words.where}"
    return f"several {plural(words.noun)} {words.verb} {words.where}"
