# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import numpy as np
def ctor(n):
    a = np.array([n])
    return broken(n) if a.dtype != object and a[0] == 505 else halves(n)
