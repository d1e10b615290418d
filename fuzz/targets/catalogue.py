"""The targets by name. Each is a module with ``one_input(data)``, imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

OneInput = Callable[[bytes], None]

NAMES = (
    "map_documents",
    "pickles",
    "geometry",
    "certificates",
    "contract_documents",
    "protocol_documents",
)
SEEDS = Path(__file__).parents[2] / "corpora" / "seeds"
"""One folder of inputs per target."""


def one_input_of(name: str) -> OneInput:
    """What a target does with one input; it raises when that shows a fault."""
    if name not in NAMES:
        raise KeyError(f"no target {name!r}; there are {', '.join(NAMES)}")
    one_input: OneInput = import_module(f"fuzz.targets.{name}").one_input
    return one_input
