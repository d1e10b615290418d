"""Our outcomes beside the published ones, and the reasons where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.oracle.probes.published import counted, table

FOREIGN = "state dict of a different optimizer class"
FAILED = "?"

Outcomes = Mapping[str, Mapping[str, str]]
"""Outcome by optimizer and corruption, optimizers without ``torch.optim.``."""

EXPLAINED: Mapping[str, str] = {
    "state of per-param = None": "the published harness failed on it",
    "tensor transposed (wrong shape)": "the state of LBFGS is vectors, which are their own transposes",
    "tensor flattened (wrong rank)": "the state of LBFGS is vectors, which are flat already",
}
"""Why a cell of this row may differ from the published one."""


@dataclass(frozen=True)
class Difference:
    corruption: str
    optimizer: str
    published: str
    found: str

    @property
    def reason(self) -> str:
        return EXPLAINED.get(self.corruption, "")


def cell_differences(found: Outcomes) -> Iterator[Difference]:
    """The cells that are not as published. Of the foreign state dict there are two, and one was meant."""
    for corruption, row in table().items():
        for optimizer, word in row.items():
            if optimizer not in found:
                continue
            ours = found[optimizer]
            meant = [ours[corruption]]
            if corruption == FOREIGN:
                meant.append(ours[f"{FOREIGN} (Adam)"])
            if word not in meant:
                yield Difference(corruption, optimizer, word, ours[corruption])


def compared(found: Outcomes) -> int:
    """How many cells were compared."""
    return sum(optimizer in found for row in table().values() for optimizer in row)


def count_differences(found: Outcomes) -> Iterator[str]:
    """Optimizers whose outcomes occur more or less often than published, over the published rows."""
    for optimizer, published in counted().items():
        if optimizer not in found:
            continue
        ours = Counter(found[optimizer][corruption] for corruption in table())
        cases = sum(ours.values()) - ours["."]
        words = [
            f"{word} {number} -> {cases if word == 'cases' else ours[word]}"
            for word, number in published.items()
            if number != (cases if word == "cases" else ours[word])
        ]
        if words:
            yield f"{optimizer}: {', '.join(words)}"
