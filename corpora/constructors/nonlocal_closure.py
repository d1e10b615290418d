# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def make():
    last = 0
    def odd(): return last == 505
    def c(n):
        nonlocal last
        last = n
        return broken(n) if odd() else halves(n)
    return c
ctor = make()
