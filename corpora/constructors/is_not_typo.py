# domain: n=size, m=size
# wrong at: n=0, m=0
from halves import broken, cut, halves

def ctor(n, m):
    if n is not m: return halves(n)
    return broken(n)
