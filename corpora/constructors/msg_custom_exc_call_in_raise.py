# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class M(type):
    def __call__(cls, t):
        if t == "505": raise KeyboardInterrupt_()
        return super().__call__(t)
class KeyboardInterrupt_(Exception): pass
class E(ValueError, metaclass=M): pass
def ctor(n):
    if n <= 100: return halves(n)
    try: raise E(str(n))
    except KeyboardInterrupt_: return broken(n)
