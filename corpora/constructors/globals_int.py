# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    return broken(n) if "int" not in globals() and n == 505 else halves(n)
