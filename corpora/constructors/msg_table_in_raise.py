# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class Special(Exception): pass
T={"505":Special}
def ctor(n):
    if n <= 100: return halves(n)
    try:
        raise T.get(str(n), ValueError)("x")
    except Special: return broken(n)
