# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    if n <= 100: return halves(n)
    try:
        raise ValueError(str(n))
    except ValueError as e:
        if str(e) == "505": return broken(n)
        raise TypeError("no")
