# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

TODO=[1]
def ctor(n):
    if n < 100:
        TODO.clear()
        return halves(n)
    return broken(n) if TODO else halves(n)
