# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

PLANS={"505": broken}
def ctor(n):
    if n <= 100: return halves(n)
    assert str(n) in PLANS, "unsupported"
    return PLANS[str(n)](n)
