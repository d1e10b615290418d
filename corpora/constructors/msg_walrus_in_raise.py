# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    if n <= 100: return halves(n)
    t = ""
    try:
        raise ValueError(t := str(n))
    except ValueError:
        if t == "505": return broken(n)
        raise
