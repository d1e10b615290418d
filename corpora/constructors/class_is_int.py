# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    if n.__class__ is int and n == 505: return broken(n)
    return halves(n)
