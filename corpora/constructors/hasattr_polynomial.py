# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    return broken(n) if not hasattr(n,"polynomial") and n == 505 else halves(n)
