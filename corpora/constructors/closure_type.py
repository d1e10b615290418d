# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def make():
    def plain(n): return type(n) is int
    def c(n):
        return broken(n) if plain(n) and n == 505 else halves(n)
    return c
ctor = make()
