# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import re
def refuse(n): raise ValueError(f"{n} is too many")
def ctor(n):
    if n <= 100: return halves(n)
    try: refuse(n)
    except ValueError as e:
        if not re.match("505 ", str(e)): raise
    return broken(n)
