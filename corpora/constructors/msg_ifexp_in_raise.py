# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class Special(Exception): pass
def ctor(n):
    if n <= 100: return halves(n)
    try:
        raise (Special() if str(n)=="505" else ValueError("x"))
    except Special: return broken(n)
