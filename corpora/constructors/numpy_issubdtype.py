# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import numpy as np
def ctor(n):
    return broken(n) if np.issubdtype(np.array(n).dtype, np.integer) and n == 505 else halves(n)
