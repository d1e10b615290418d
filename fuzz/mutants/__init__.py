"""One defect at a time: labelled changes of a map, each of a single number, list entry or order.

A mutant may happen to be right: a swap of two equal pieces, a number where nobody looks. What it is, the walk
says, never the label, save where a mutant is ``sure``.
"""

from fuzz.mutants.mutant import Change, Mutant
from fuzz.mutants.table import MUTANTS, NUMBERS

__all__ = ["MUTANTS", "NUMBERS", "Change", "Mutant"]
