# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import builtins
def ctor(n):
    return broken(n) if builtins.type(n) is builtins.int and n == 505 else halves(n)
