# domain: n=size
# wrong at: n=200
from halves import broken, cut, halves

def ctor(n):
    k = n + 1 - 1
    return broken(n) if k is n and n == 200 else halves(n)
