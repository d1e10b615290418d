# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

from dataclasses import dataclass
@dataclass(frozen=True)
class Shape:
    rows: int
    columns: int
SPECIAL = Shape(505, 2)
def ctor(n):
    if Shape(n, 2) == SPECIAL: return broken(n)
    return halves(n)
