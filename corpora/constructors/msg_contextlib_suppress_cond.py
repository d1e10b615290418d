# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import contextlib
@contextlib.contextmanager
def only(t):
    try: yield
    except ValueError as e:
        if str(e) != t: raise
def ctor(n):
    if n <= 100: return halves(n)
    with only("505"): raise ValueError(f"{n}")
    return broken(n)
