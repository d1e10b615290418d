"""The target ``geometry``: a map from bytes; engines, judge and certificates against a walk of the map."""

from __future__ import annotations

import json

from fuzz.outcomes import DISAGREEMENT
from fuzz.prover import ProverTarget
from fuzz.targets.bytes_random import SMALL, BytesRandom, case_from
from fuzz.targets.fault import Fault

PROVER = ProverTarget(smt_every=0, oracle_every=0, tamper_every=1, drawing_every=0, selection=SMALL)


def one_input(data: bytes) -> None:
    """Ask everything about one case.

    Raises:
        Fault: two answers cannot both be right.
    """
    case = case_from(BytesRandom(data))
    for found in PROVER.run(case).findings(DISAGREEMENT):
        shown = json.dumps(found.document, sort_keys=True)
        raise Fault(f"layout {found.layout}, mutant {found.mutant}: {found.words}; {shown}")
