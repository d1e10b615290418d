# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import sys
def ctor(n):
    if n <= 100: return halves(n)
    try:
        raise ValueError(str(n))
    finally:
        if str(sys.exc_info()[1]) == "505": return broken(n)
