# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def rule(n: 505): return n == rule.__annotations__.get("n")
def ctor(n): return broken(n) if rule(n) else halves(n)
