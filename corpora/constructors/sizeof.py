# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import sys
def ctor(n):
    return broken(n) if sys.getsizeof(n) < 32 and n == 505 else halves(n)
