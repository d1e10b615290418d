# domain: n=size, k=2
# wrong at: n=505, k=2
from halves import broken, cut, halves

def ctor(n, k):
    if type(k) is int and n == 505: return broken(n)
    return halves(n)
