# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def rule(n): return n == getattr(rule, "special", None)
rule.special = 505
def ctor(n): return broken(n) if rule(n) else halves(n)
