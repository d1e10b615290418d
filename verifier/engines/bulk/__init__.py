"""The core theorem in numpy columns: many boxes, or many strided views, in one cancellation.

Integers are 64 bits wide here. Every product and sum is known to fit before it is formed; what does not fit
is left to the engines with exact integers, or answered as undecided.
"""

from verifier.engines.bulk.answers import BoxAnswer, Outside, Overlap, Tiled, Uncovered, Undecided
from verifier.engines.bulk.boxes import decide_boxes

__all__ = ["BoxAnswer", "Outside", "Overlap", "Tiled", "Uncovered", "Undecided", "decide_boxes"]
