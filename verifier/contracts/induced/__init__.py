"""From the cut of a parameter to the cut of each state field, or the reason why there is none."""

from verifier.contracts.induced.contract_maps import Induction, induce, induce_any
from verifier.contracts.induced.other_cuts import OtherCut, induce_other, readings
from verifier.contracts.induced.outcome import Induced

__all__ = [
    "Induced",
    "Induction",
    "OtherCut",
    "induce",
    "induce_any",
    "induce_other",
    "readings",
]
