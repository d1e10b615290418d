# domain: n=size, m=size
# wrong at: n=5, m=5
from halves import broken, cut, halves

def ctor(n, m):
    return broken(n) if n is m else halves(n)
