"""What a proof without a reference leaves open: a perfect tiling can be the wrong function."""

from __future__ import annotations

from verifier.audit.references import NO_REFERENCE
from verifier.diagnostics.wording import counted


def without_reference(number: int, all_of_them: int) -> tuple[str, ...]:
    """The clause on so many of all constructors."""
    if not number:
        return ()
    if all_of_them == 1:
        return (NO_REFERENCE,)
    some = "all" if number == all_of_them else f"{number} of"
    made = f"{some} {counted(all_of_them, 'constructor')}"
    return (f"whether {made} make the intended layout (no --reference)",)
