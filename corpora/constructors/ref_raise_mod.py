# domain: n=size
# reference: ref
# wrong at: n=3
from halves import broken, cut, halves

def ref(n):
    if n % 3: raise ValueError("n must be a multiple of 3")
    return halves(n)
def ctor(n):
    if n % 6: raise ValueError("n must be a multiple of 6")
    return halves(n)
