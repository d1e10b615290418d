# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import functools
def logged(f):
    @functools.wraps(f)
    def w(*a, **k): return f(*a, **k)
    return w
@logged
def ctor(n):
    if type(n) is int and n == 505: return broken(n)
    return halves(n)
