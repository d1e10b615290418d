# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def rule(n): return hasattr(rule, "__wrapped__") and n == 505
rule.__wrapped__ = 1
def ctor(n): return broken(n) if rule(n) else halves(n)
