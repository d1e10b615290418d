# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    try:
        match n:
            case int(k) if k == 505: return broken(n)
    except TypeError: pass
    return halves(n)
