# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    if n <= 100: return halves(n)
    try: raise {"505": 3}.get(str(n), ValueError)
    except TypeError: return broken(n)
