# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def plain(n): return type(n) is int
H={"p": plain}
def ctor(n):
    return broken(n) if H["p"](n) and n == 505 else halves(n)
