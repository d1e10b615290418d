"""From the cut of a parameter to the cut of each state field, or the reason why there is none."""

from verifier.contracts.induced.contract_maps import Induction, induce
from verifier.contracts.induced.outcome import Induced

__all__ = ["Induced", "Induction", "induce"]
