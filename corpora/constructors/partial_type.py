# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import functools
def plain(n): return type(n) is int
PL=functools.partial(plain)
def ctor(n):
    return broken(n) if PL(n) and n == 505 else halves(n)
