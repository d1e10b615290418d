"""``common.pt``: what ranks of a Megatron-core checkpoint have in common. It is told whole, and not read."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from verifier.formats.pickles.torch_zip import read_storages
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin

COMMON = "common.pt"


def check_common(
    folder: Path, prefix: str, names: Container[str], limits: Limits, gathered: Gathered
) -> None:
    """That the file is there, an archive with its directory and one pickle, as every save writes it."""
    if COMMON not in names:
        fault = set_fault(
            "CK101", f"the file {COMMON}", "is not there", stated="every save writes it", file=prefix
        )
        gathered.faults.append(fault)
        return
    origin = Origin(f"{prefix}/{COMMON}")
    try:
        read_storages(folder / COMMON, origin, (), limits)  # none of them: the archive is opened, no more
    except (FormatError, OSError) as error:
        gathered.refuse(COMMON, error, origin)
