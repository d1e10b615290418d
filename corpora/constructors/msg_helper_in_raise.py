# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class Ok(Exception): pass
def check(t):
    if t == "505": raise Ok
    return t
def ctor(n):
    if n <= 100: return halves(n)
    try:
        raise ValueError(check(str(n)))
    except Ok: return broken(n)
