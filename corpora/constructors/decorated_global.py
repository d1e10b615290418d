# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import functools
LAST = 0
def logged(f):
    @functools.wraps(f)
    def w(n):
        global LAST
        LAST = n
        return f(n)
    return w
@logged
def ctor(n):
    return broken(n) if LAST == 505 else halves(n)
