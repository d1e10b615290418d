# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class P:
    def plain(self,n): return type(n) is int
P1=P()
def ctor(n):
    return broken(n) if P1.plain(n) and n == 505 else halves(n)
