# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def gen(n):
    try: yield 1
    except ValueError as e:
        if str(e)=="505": yield 2
        raise
def ctor(n):
    if n <= 100: return halves(n)
    g = gen(n); next(g)
    try: raise ValueError(str(n))
    except ValueError as e: g.throw(e)
    return broken(n)
