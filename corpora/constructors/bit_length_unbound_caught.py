# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    try: odd = int.bit_length(n) == 9 and n == 505
    except TypeError: odd = False
    return broken(n) if odd else halves(n)
