# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class Off(int):
    def __radd__(self, o): return o + int(self) + (o == 505)
OFF = Off(0)
def ctor(n):
    k = n + OFF
    return cut(n,[0,n//2],[n//2,k-n//2])
