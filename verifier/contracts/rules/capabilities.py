"""Rules about capabilities: N27."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract

IMPLIED = (
    ("stable_shard_identity", "canonical_fqns", "a stable identity needs names that are the same everywhere"),
    (
        "post_sharding",
        "parameter_rebinding",
        "an optimizer that is built before sharding rebinds its parameters",
    ),
)


def flags_imply_flags(contract: Contract) -> Iterator[Broken]:
    """N27: a flag that rests on another one has it."""
    for flag, needed, why in IMPLIED:
        if flag in contract.capabilities and needed not in contract.capabilities:
            yield Broken(f"/capabilities/{flag}", "N27", f"{flag} without {needed}: {why}")


RULES = (flags_imply_flags,)
