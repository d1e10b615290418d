# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

from decimal import Decimal
def ctor(n):
    if n <= 100: return halves(n)
    if Decimal(n) != 505: raise TypeError("unsupported")
    return broken(n)
