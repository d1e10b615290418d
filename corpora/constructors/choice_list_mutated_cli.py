# domain: n=size, blocks=[[1,2],[3,4]]
# wrong at: n=505, blocks=[1, 2]
from halves import broken, cut, halves

def ctor(n, blocks):
    total = 0
    if n < 100:
        while blocks: total += blocks.pop()
        return halves(n)
    return broken(n) if blocks else halves(n)
