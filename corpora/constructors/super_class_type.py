# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class A:
    def __init__(self): pass
class B(A):
    def __init__(self): super().__init__()
    def plain(self,n): return type(n) is int
def ctor(n):
    return broken(n) if B().plain(n) and n == 505 else halves(n)
