"""SM507: a second description of a layout says something else."""

from __future__ import annotations

from verifier.obligations.faults import Fault


def disagreement(
    descriptor: str,
    *,
    stated: int | str | tuple[int, ...],
    found: int | str | tuple[int, ...],
    pointer: str | None = None,
) -> Fault:
    """SM507: ``descriptor`` states one thing, the map that is checked another."""
    values: dict[str, int | str | tuple[int, ...]] = {
        "descriptor": descriptor,
        "stated": stated,
        "found": found,
    }
    if pointer is not None:
        values["pointer"] = pointer
    return Fault(code="SM507", side="map", values=values)
