# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n, _m=[1]):
    if n < 100:
        _m.clear()
        return halves(n)
    return broken(n) if _m else halves(n)
