# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class Plan:
    last = 0
    def __init__(self): pass
    @classmethod
    def make(cls): return cls()
INST = Plan()
def ctor(n):
    Plan.last = n
    return broken(n) if INST.last == 505 else halves(n)
