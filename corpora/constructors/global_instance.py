# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

LAST = 0
class Planner:
    def odd(self): return LAST == 505
PLANNER = Planner()
def ctor(n):
    global LAST
    LAST = n
    return broken(n) if PLANNER.odd() else halves(n)
