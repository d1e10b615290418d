# domain: n=size, m=size
# wrong at: n=7, m=7
from halves import broken, cut, halves

def ctor(n, m):
    seen = {id(x) for x in (n, m)}
    return broken(n) if len(seen) == 1 else halves(n)
