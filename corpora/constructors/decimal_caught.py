# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

from decimal import Decimal
def ctor(n):
    try: odd = Decimal(n) == 505
    except TypeError: odd = False
    return broken(n) if odd else halves(n)
