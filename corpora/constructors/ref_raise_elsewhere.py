# domain: n=size
# reference: ref
# wrong at: n=505
from halves import broken, cut, halves

def ref(n):
    if n > 100 and n != 505: raise ValueError("no")
    return halves(n)
def ctor(n):
    if n > 100: raise ValueError("no")
    return halves(n)
