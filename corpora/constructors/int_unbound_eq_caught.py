# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    try: odd = int.__eq__(n, 505)
    except TypeError: odd = False
    return broken(n) if odd is True else halves(n)
